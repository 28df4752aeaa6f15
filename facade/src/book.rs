//! The chapters of the book, which is the folder `book` of the repository.
//!
//! | part | folder |
//! |---|---|
//! | tasks: security, data, protocols | `book/src/how-to` |
//! | migration from another framework | `book/src/migration` |
//! | production | `book/src/operations` |
