//! An empty library for the cases in `cases/`, which do not compile.
