//! A copy of the tracker's routes. A fault replaces a handler, a setting or a
//! part.

use std::time::Duration;

use stockade::RouteEntry;
use stockade::auth::KeyRing;
use stockade::auth::webhooks::WebhookKeys;
use stockade::http::Method;
use stockade::middleware::sessions::{MemorySessionStore, Sessions};
use stockade::middleware::{
    ErrorReply, SameSite, SessionCookie, TrustProxy, with_cross_origin_protection, with_role,
};
use stockade::policy::Policy;
use stockade::prelude::*;

use super::leaks;
use crate::accounts::Visit;
use crate::api::{self, Parts};
use crate::tests::{PASSWORD, World};
use crate::{accounts, admin, billing, files, hooks, issues, members, projects};

/// The defense that the tracker loses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    None,
    SameSite,
    SessionLifetime,
    SessionOrigins,
    LaxOrigins,
    Unsigned,
    LateSignature,
    AnySignature,
    MembersWithoutRole,
    RoleFromHeader,
    OpenRoute,
    OpenRouteWithReason,
    RateLimit,
    BodyLimit,
    ExposedErrors,
    ErrorSource,
    AnyProxy,
    AnyOrigin,
    SecurityHeaders,
    Policy,
    PolicyRule,
    AdminOrigins,
    AdminPolicy,
    AdminRouter,
    SignInLimit,
    SignInOrigins,
    AnyUrl,
    ShortPassword,
    InlineFile,
    Unlimited,
    ShowProject,
    RenameProject,
    CreateIssue,
    SearchIssues,
    MoveIssue,
    DeleteIssue,
    Download,
    ListHooks,
    RemoveMember,
    SignOut,
    SignOutEverywhere,
    NewPassword,
    OldPassword,
    Member,
    Role,
}

/// Returns the public API with a fault, without its policy.
pub fn public(world: &World, fault: Fault) -> Router {
    let parts = Parts { sessions: sessions(world, fault), ..world.parts.clone() };
    let api = routes! {
        auth: parts.sessions.auth(),
        timeout: Duration::from_secs(10),
        ..accounts(fault),
        ..members(fault),
        ..projects(fault),
        ..issues(fault),
        ..files(fault),
        ..hooks(fault),
        ..billing(fault),
    };
    let mut router = api::with_parts(api, &parts, options(fault)).state(world.db.clone());
    if fault == Fault::OpenRoute || fault == Fault::OpenRouteWithReason {
        let export = router.get("/export", async || "everything");
        if fault == Fault::OpenRouteWithReason {
            export.public("the data is public");
        }
    }
    if fault == Fault::LateSignature {
        return router.state(WebhookKeys::<leaks::Late>::new("whsec_of_tests_only").unwrap());
    }
    router
}

/// Returns the policy of the public API with a fault.
pub fn policy(fault: Fault) -> Option<Policy> {
    match fault {
        Fault::Policy => None,
        Fault::PolicyRule => {
            Some(api::policy().without("webhooks-signed", "the provider is known"))
        }
        _ => Some(api::policy()),
    }
}

/// Returns the internal API with a fault.
pub fn admin(world: &World, fault: Fault) -> Router {
    let auth = admin::operators(PASSWORD.to_owned());
    let api = match fault {
        Fault::AdminOrigins => routes! {
            auth: auth,
            timeout: Duration::from_secs(10),
            ..admin::routes(),
        },
        _ => routes! {
            auth: auth,
            timeout: Duration::from_secs(10),
            middleware: with_cross_origin_protection(),
            ..admin::routes(),
        },
    };
    let router = admin::with_parts(api, &world.parts, RouterOptions::new()).state(world.db.clone());
    match fault {
        Fault::AdminPolicy => router,
        _ => router.policy(admin::policy()),
    }
}

fn sessions(world: &World, fault: Fault) -> Sessions<Visit> {
    let secret = Secret::new("a secret of tests only, 32 bytes").unwrap();
    let cookie = SessionCookie::new(KeyRing::new(secret));
    let new = |cookie: SessionCookie| Sessions::new(MemorySessionStore::new(), cookie);
    match fault {
        Fault::SameSite => new(cookie.same_site(SameSite::None)),
        Fault::LaxOrigins => new(cookie.same_site(SameSite::Lax).cross_origin_protection(None)),
        Fault::SessionOrigins => new(cookie.cross_origin_protection(None)),
        Fault::SessionLifetime => new(cookie).lifetime(Duration::from_secs(365 * 24 * 3_600)),
        _ => world.parts.sessions.clone(),
    }
}

/// Sends the source of an error to the client.
fn with_source(error: &mut ErrorReply) {
    let source = error.source().map(ToString::to_string);
    error.set_json(json!({ "error": error.message(), "cause": source }));
}

fn options(fault: Fault) -> RouterOptions {
    let options = RouterOptions::new();
    match fault {
        Fault::RateLimit => options.rate_limit(false),
        Fault::BodyLimit => options.max_body(1024 * 1024 * 1024),
        Fault::ExposedErrors => options.expose_errors(true),
        Fault::ErrorSource => options.error_handling(with_source),
        Fault::AnyProxy => options.trust_proxy(TrustProxy::networks(["0.0.0.0/0"]).unwrap()),
        Fault::AnyOrigin => options.cors_origin("*"),
        Fault::SecurityHeaders => options.security_headers(false),
        _ => options,
    }
}

/// Returns a tree with one method.
fn at(method: Method, entry: RouteEntry) -> RouteTree {
    RouteTree::new().method(method, entry)
}

fn accounts(fault: Fault) -> RouteTree {
    let mut sign_in = RouteEntry::new(accounts::sign_in).public("people sign in here");
    if fault != Fault::SignInLimit {
        sign_in = sign_in.rate_limit(10 / MINUTE);
    }
    if fault != Fault::SignInOrigins {
        sign_in = sign_in.middleware(with_cross_origin_protection());
    }
    let sign_out = match fault {
        Fault::SignOut => RouteEntry::new(leaks::sign_out),
        _ => RouteEntry::new(accounts::sign_out),
    };
    let sign_out_everywhere = match fault {
        Fault::SignOutEverywhere => RouteEntry::new(leaks::sign_out_everywhere),
        _ => RouteEntry::new(accounts::sign_out_everywhere),
    };
    let change_password = match fault {
        Fault::NewPassword => RouteEntry::new(leaks::change_only_the_password),
        Fault::OldPassword => RouteEntry::new(leaks::end_only_the_sessions),
        _ => RouteEntry::new(accounts::change_password),
    };
    routes! {
        "sign-in": { ..at(Method::POST, sign_in) },
        "sign-out": { ..at(Method::POST, sign_out) },
        "sign-out-everywhere": { ..at(Method::POST, sign_out_everywhere) },
        "me": {
            GET: accounts::me,
            "password": { ..at(Method::PUT, change_password.rate_limit(10 / MINUTE)) },
        },
    }
}

fn members(fault: Fault) -> RouteTree {
    let guards: Vec<Middleware> = match fault {
        Fault::MembersWithoutRole => vec![],
        Fault::RoleFromHeader => {
            vec![Middleware::new(leaks::role_from_header), with_role("admin")]
        }
        _ => vec![with_role("admin")],
    };
    let add = match fault {
        Fault::ShortPassword => RouteEntry::new(leaks::add_member),
        _ => RouteEntry::new(members::add),
    };
    let remove = match fault {
        Fault::Member => RouteEntry::new(leaks::remove_only_the_row),
        Fault::RemoveMember => RouteEntry::new(leaks::remove_member),
        _ => RouteEntry::new(members::remove),
    };
    let set_role = match fault {
        Fault::Role => RouteEntry::new(leaks::set_only_the_role),
        _ => RouteEntry::new(members::set_role),
    };
    routes! {
        "members": {
            middleware: guards,
            GET: members::list,
            ..at(Method::POST, add.rate_limit(10 / MINUTE)),
            ":member": {
                ..at(Method::DELETE, remove),
                "role": { ..at(Method::PUT, set_role) },
            },
        },
    }
}

fn projects(fault: Fault) -> RouteTree {
    let show = match fault {
        Fault::ShowProject => RouteEntry::new(leaks::show_project),
        _ => RouteEntry::new(projects::show),
    };
    let rename = match fault {
        Fault::RenameProject => RouteEntry::new(leaks::rename_project),
        _ => RouteEntry::new(projects::rename),
    };
    let list = match fault {
        Fault::Unlimited => RouteEntry::new(leaks::list_projects),
        _ => RouteEntry::new(projects::list),
    };
    routes! {
        "projects": {
            ..at(Method::GET, list),
            POST: projects::create,
            ":project": {
                ..at(Method::GET, show),
                ..at(Method::PUT, rename),
                DELETE: projects::delete,
            },
        },
    }
}

fn issues(fault: Fault) -> RouteTree {
    let create = match fault {
        Fault::CreateIssue => RouteEntry::new(leaks::create_issue),
        _ => RouteEntry::new(issues::create),
    };
    let change = match fault {
        Fault::MoveIssue => RouteEntry::new(leaks::move_issue),
        _ => RouteEntry::new(issues::change),
    };
    let delete = match fault {
        Fault::DeleteIssue => RouteEntry::new(leaks::delete_issue),
        _ => RouteEntry::new(issues::delete),
    };
    let list = match fault {
        Fault::SearchIssues => RouteEntry::new(leaks::search_issues),
        _ => RouteEntry::new(issues::list),
    };
    routes! {
        "projects": {
            ":project": {
                "issues": {
                    ..at(Method::POST, create),
                    ":issue": {
                        GET: issues::show,
                        ..at(Method::PATCH, change),
                        ..at(Method::DELETE, delete),
                    },
                },
            },
        },
        "issues": { ..at(Method::GET, list) },
    }
}

fn files(fault: Fault) -> RouteTree {
    let download = match fault {
        Fault::Download => RouteEntry::new(leaks::download),
        Fault::InlineFile => RouteEntry::new(leaks::show_file),
        _ => RouteEntry::new(files::download),
    };
    routes! {
        "projects": { ":project": { "files": { POST: files::upload } } },
        "files": { ":file": { ..at(Method::GET, download) } },
    }
}

fn hooks(fault: Fault) -> RouteTree {
    let list = match fault {
        Fault::ListHooks => RouteEntry::new(leaks::list_hooks),
        _ => RouteEntry::new(hooks::list),
    };
    let add = match fault {
        Fault::AnyUrl => RouteEntry::new(leaks::add_hook),
        _ => RouteEntry::new(hooks::add),
    };
    routes! {
        "hooks": {
            middleware: with_role("admin"),
            ..at(Method::GET, list),
            ..at(Method::POST, add),
            ":hook": { DELETE: hooks::remove },
        },
    }
}

fn billing(fault: Fault) -> RouteTree {
    let paid = match fault {
        Fault::Unsigned => RouteEntry::new(leaks::unsigned),
        Fault::LateSignature => RouteEntry::new(leaks::late),
        Fault::AnySignature => RouteEntry::new(leaks::any_signature),
        _ => RouteEntry::new(billing::paid),
    };
    routes! {
        "webhooks": {
            "payments": { ..at(Method::POST, paid.public(billing::SIGNED)) },
        },
    }
}
