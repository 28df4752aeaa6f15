//! The cases of `cases/`, which do not compile, are all that there is here.
