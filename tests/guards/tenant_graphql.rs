//! GraphQL resolvers that forget the tenant, one at a time.

use std::sync::Mutex;

use stockade::graphql::{GraphQl, RequestContext, async_graphql as gql};
use stockade::prelude::*;
use stockade::testing::{AttackFamily, HardeningFailure, HardeningReport};

use crate::block_on;
use crate::tenants::{Member, failures, harden, secret};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    Read,
    List,
    Rename,
    Reference,
    NestedReference,
}

#[derive(Clone, gql::SimpleObject)]
#[graphql(crate = "gql")]
struct Issue {
    id: u64,
    #[graphql(skip)]
    tenant: String,
    title: String,
    parent_id: Option<u64>,
}

#[derive(gql::InputObject)]
#[graphql(crate = "gql")]
struct NewIssue {
    title: String,
    parent: Option<Parent>,
}

#[derive(gql::InputObject)]
#[graphql(crate = "gql")]
struct Parent {
    issue_id: u64,
}

/// A forgotten condition, and the issues.
struct Issues {
    fault: Option<Fault>,
    rows: Mutex<Vec<Issue>>,
}

impl Issues {
    fn find(&self, me: &Member, fault: Fault, id: u64) -> gql::Result<Issue> {
        let rows = self.rows.lock().unwrap();
        let mut own =
            rows.iter().filter(|row| self.fault == Some(fault) || row.tenant == me.tenant);
        own.find(|row| row.id == id).cloned().ok_or_else(|| "unknown issue".into())
    }

    fn add(&self, me: Member, title: String, parent_id: Option<u64>) -> Issue {
        let mut rows = self.rows.lock().unwrap();
        let id = rows.len() as u64 + 1;
        rows.push(Issue { id, tenant: me.tenant, title, parent_id });
        rows[rows.len() - 1].clone()
    }
}

fn me(ctx: &gql::Context<'_>) -> gql::Result<Member> {
    Ok(ctx.data::<RequestContext>()?.user_as()?)
}

struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    async fn issue(&self, ctx: &gql::Context<'_>, id: u64) -> gql::Result<Issue> {
        ctx.data::<Issues>()?.find(&me(ctx)?, Fault::Read, id)
    }

    async fn issues(&self, ctx: &gql::Context<'_>) -> gql::Result<Vec<Issue>> {
        let (issues, me) = (ctx.data::<Issues>()?, me(ctx)?);
        let rows = issues.rows.lock().unwrap();
        let is_own = |row: &&Issue| issues.fault == Some(Fault::List) || row.tenant == me.tenant;
        Ok(rows.iter().filter(is_own).cloned().collect())
    }
}

struct Mutation;

#[gql::Object(crate = "gql")]
impl Mutation {
    async fn create_issue(&self, ctx: &gql::Context<'_>, new: NewIssue) -> gql::Result<Issue> {
        let (issues, me) = (ctx.data::<Issues>()?, me(ctx)?);
        let parent = new.parent.map(|parent| parent.issue_id);
        if let Some(parent) = parent {
            issues.find(&me, Fault::NestedReference, parent)?;
        }
        Ok(issues.add(me, new.title, parent))
    }

    async fn copy_issue(&self, ctx: &gql::Context<'_>, issue_id: u64) -> gql::Result<Issue> {
        let (issues, me) = (ctx.data::<Issues>()?, me(ctx)?);
        let issue = issues.find(&me, Fault::Reference, issue_id)?;
        Ok(issues.add(me, "a copy".to_owned(), Some(issue.id)))
    }

    async fn rename_issue(
        &self,
        ctx: &gql::Context<'_>,
        id: u64,
        title: String,
    ) -> gql::Result<Issue> {
        let issues = ctx.data::<Issues>()?;
        let issue = issues.find(&me(ctx)?, Fault::Rename, id)?;
        for row in issues.rows.lock().unwrap().iter_mut().filter(|row| row.id == id) {
            row.title.clone_from(&title);
        }
        Ok(Issue { title, ..issue })
    }
}

fn report(fault: Option<Fault>) -> HardeningReport {
    let issues = Issues { fault, rows: Mutex::default() };
    let schema = gql::Schema::build(Query, Mutation, gql::EmptySubscription).data(issues);
    let api = routes! {
        auth: Auth::secret(secret()),
        "graphql": { ..GraphQl::new(schema).routes() },
    };
    block_on(harden(create_router(api, RouterOptions::new())).run())
}

#[test]
fn finds_each_forgotten_tenant() {
    #[track_caller]
    fn check(fault: Fault, field: &str, attack: &str, found: &str) {
        let report = report(Some(fault));
        let all = failures(&report);
        let route = format!("GRAPHQL /graphql#{field}");
        let is_found = |it: &&&HardeningFailure| {
            it.route.as_ref() == Some(&route) && it.attack.contains(attack)
        };
        let failure = all.iter().find(is_found);
        let failure = failure.unwrap_or_else(|| panic!("{fault:?} is not found\n{report}"));
        assert!(failure.found.contains(found), "{report}");
        assert!(all.iter().all(|it| it.route.as_ref() == Some(&route)), "{fault:?}\n{report}");
        let location = failure.location.as_ref().unwrap();
        assert!(location.file.ends_with("guards/tenant_graphql.rs"), "{report}");
        assert!(failure.exchange.as_deref().unwrap().starts_with("curl -X POST"), "{report}");
    }
    let argument = "argument `id` with an id of the other user";
    check(Fault::Read, "issue", argument, "data of the first user");
    check(Fault::List, "issues", "own objects", "data of the first user");
    check(Fault::Rename, "renameIssue", argument, "different afterwards");
    check(Fault::Reference, "copyIssue", "argument `issueId`", "200 OK");
    check(Fault::NestedReference, "createIssue", "argument `new.parent.issueId`", "200 OK");
}

#[test]
fn reports_nothing_if_tenants_are_separate() {
    let report = report(None);
    report.assert();
    let count = report.count(AttackFamily::Tenants);
    assert!(count.passed >= 5, "{report}");
    assert_eq!(count.not_attacked, 0, "{report}");
}
