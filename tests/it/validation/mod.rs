//! Input: bodies, extractors and schemas.

mod accepts;
mod bodies;
mod derives;
mod extractors;
mod json_values;
mod json_vectors;
mod queries;
mod routes;
mod unions;
mod uploads;
