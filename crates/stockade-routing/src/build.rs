//! The build of an application from a router.

use stockade_errors::ConfigError;
use stockade_path::join;

use crate::app::App;
use crate::compile::Compiler;
use crate::map::Inspector;
use crate::router::Router;

impl Router {
    /// Checks and compiles the routes.
    ///
    /// # Errors
    /// Returns all configuration errors together, such as invalid paths, duplicate routes,
    /// duplicate names, and handler arguments that neither the path nor the state has.
    pub fn build(self) -> Result<App, ConfigError> {
        self.build_for(false)
    }

    /// Builds the routes for another host, which does not run the stages.
    pub(crate) fn build_for_host(self) -> Result<App, ConfigError> {
        self.build_for(true)
    }

    fn build_for(self, is_hosted: bool) -> Result<App, ConfigError> {
        let Self { options, routes, mistakes, mut inspectors, policy, documents_page, .. } = self;
        let mut compiler = Compiler::new(&options, mistakes, is_hosted);
        for route in routes {
            compiler.add(route);
        }
        compiler.add_fallback();
        let documents_page = documents_page.map(|path| join(&options.prefix, &path));
        let (policy, asks) = policy.map(|it| (it.policy, it.inspector)).unzip();
        inspectors.append(&mut compiler.inspectors);
        inspectors.extend(asks);
        let app = compiler.finish(policy, documents_page)?;
        Inspector::run_all(inspectors, &app, is_hosted)?;
        Ok(app)
    }
}
