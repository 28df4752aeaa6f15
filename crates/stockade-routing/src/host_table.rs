//! [`HostTable`]: a map from hosts to their routes.

use stockade_path::Spans;
use stockade_path::host::HostPattern;

use crate::matcher::Table;
use crate::site::Site;

/// The routes of each host.
pub(crate) struct HostTable {
    /// A map from the labels of a host to its index.
    pub(crate) table: Table<usize>,
    pub(crate) sites: Box<[Site]>,
    /// The labels of each site, without the names of parameters.
    pub(crate) canonical: Box<[String]>,
}

impl HostTable {
    /// Returns the routes of the best host, and the positions of its
    /// parameters.
    pub(crate) fn find(&self, labels: &str) -> Option<(&Site, Spans)> {
        let found = self.table.find(labels)?;
        Some((self.sites.get(*found.value)?, found.spans))
    }

    /// Returns the routes of a declared host.
    pub(crate) fn site_of(&self, host: &HostPattern) -> Option<&Site> {
        let canonical = host.labels().canonical();
        let index = self.canonical.iter().position(|known| **known == *canonical)?;
        self.sites.get(index)
    }
}
