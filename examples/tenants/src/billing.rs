//! Payments: a provider reports the plan of a company.

use serde::Deserialize;
use stockade::auth::webhooks::Stripe;
use stockade::middleware::Signed;
use stockade::prelude::*;
use stockade::sql::Sqlite;

use crate::errors::TrackerError;

pub fn routes() -> RouteTree {
    routes! {
        "webhooks": {
            "payments": {
                POST: { paid, docs: "Receive an event of the payment provider", public: SIGNED },
            },
        },
    }
}

/// The reason why this route does not require a user.
pub const SIGNED: &str = "the payment provider signs it";

/// An event of the payment provider.
#[derive(Deserialize, Schema)]
pub struct Event {
    #[schema(max_length = 100)]
    pub id: String,
    #[schema(max_length = 50)]
    pub company: String,
    #[schema(values = ["free", "team"])]
    pub plan: String,
}

pub async fn paid(
    db: State<Sqlite>,
    Signed { body: event, .. }: Signed<Event, Stripe>,
) -> Result<(), TrackerError> {
    db.write(move |tx| {
        // The provider repeats an event until it gets a success.
        let sql = "INSERT INTO payments (id) VALUES (?) ON CONFLICT DO NOTHING";
        if tx.execute(sql, [&event.id])? == 1 {
            let sql = "UPDATE companies SET plan = ? WHERE name = ?";
            tx.execute(sql, [&event.plan, &event.company])?;
        }
        Ok(())
    })
    .await
}
