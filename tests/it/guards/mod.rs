//! Mutations: a small program loses one defense, and a tool for tests names the
//! fault, the file and the line.

mod tenants;
