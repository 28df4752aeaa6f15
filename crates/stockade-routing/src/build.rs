//! The build of an application from a router.

use stockade_core::middleware::Level;
use stockade_errors::ConfigError;
use stockade_path::join;

use crate::app::App;
use crate::compile::{Compiler, Extras};
use crate::map::Inspector;
use crate::router::Router;
use crate::start::{Opener, Openers};

impl Router {
    /// Checks and compiles the routes.
    ///
    /// # Errors
    /// Returns all configuration errors together, such as invalid paths,
    /// duplicate routes, duplicate names, and handler arguments that are
    /// neither in the path nor in the state.
    pub fn build(self) -> Result<App, ConfigError> {
        self.build_for(false)
    }

    /// Builds the routes for another host, which replaces the stages.
    pub(crate) fn build_for_host(self) -> Result<App, ConfigError> {
        self.build_for(true)
    }

    fn build_for(mut self, is_hosted: bool) -> Result<App, ConfigError> {
        self.place_host();
        let Self { mut options, routes, mut mistakes, mut inspectors, policy, .. } = self;
        if is_hosted {
            mistakes.extend(self.openers.iter().map(Opener::issue_in_host));
        }
        mistakes.append(&mut options.settings.end_level(Level::Router));
        let mut compiler = Compiler::new(&options, self.states, mistakes, is_hosted);
        for route in routes {
            compiler.add(route);
        }
        compiler.add_fallback();
        let documents_page = self.documents_page.map(|path| join(&options.prefix, &path));
        let (policy, asks) = policy.map(|it| (it.policy, it.inspector)).unzip();
        let extras = Extras {
            policy,
            documents_page,
            openers: Openers::of(self.openers),
            commands: self.commands.into_iter().chain(compiler.commands.drain(..)).collect(),
            location: self.location,
            configurations: self.configurations,
        };
        inspectors.append(&mut compiler.inspectors);
        inspectors.extend(asks);
        let app = compiler.finish(extras)?;
        Inspector::run_all(inspectors, &app, is_hosted)?;
        Ok(app)
    }
}
