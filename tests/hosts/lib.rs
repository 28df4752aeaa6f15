//! Nothing: the tests are in `../it/routing/hosts/`.
