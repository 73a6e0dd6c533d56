//! Replication: recognised, and kept as text.

use super::{K, Parser, Result, T};
use crate::ast::{AdministrationKind, Statement};

impl<'a> Parser<'a> {
    /// `FOR CHANNEL 'x'`, or nothing.
    fn for_channel(&mut self) -> Result<()> {
        if self.accept_words(&[K::FOR, K::CHANNEL])? {
            self.string()?;
        }
        Ok(())
    }

    pub(super) fn change_replication(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        self.advance();
        self.expect(K::REPLICATION)?;
        if self.accept(K::FILTER) {
            self.comma_list(Parser::replication_filter)?;
            self.for_channel()?;
            return self.administrative(AdministrationKind::ChangeReplicationFilter, None, start);
        }
        self.expect_words(&[K::SOURCE, K::TO])?;
        self.comma_list(Parser::source_option)?;
        self.for_channel()?;
        self.administrative(AdministrationKind::ChangeReplicationSource, None, start)
    }

    fn source_option(&mut self) -> Result<()> {
        let keyword = self.token.keyword;
        match keyword {
            K::SOURCE_HOST
            | K::SOURCE_USER
            | K::SOURCE_PASSWORD
            | K::SOURCE_BIND
            | K::SOURCE_LOG_FILE
            | K::SOURCE_SSL_CA
            | K::SOURCE_SSL_CAPATH
            | K::SOURCE_SSL_CERT
            | K::SOURCE_SSL_CIPHER
            | K::SOURCE_SSL_KEY
            | K::SOURCE_SSL_CRL
            | K::SOURCE_SSL_CRLPATH
            | K::SOURCE_TLS_VERSION
            | K::SOURCE_TLS_CIPHERSUITES
            | K::SOURCE_PUBLIC_KEY_PATH
            | K::SOURCE_COMPRESSION_ALGORITHMS
            | K::NETWORK_NAMESPACE
            | K::RELAY_LOG_FILE
            | K::SOURCE_PORT
            | K::SOURCE_CONNECT_RETRY
            | K::SOURCE_RETRY_COUNT
            | K::SOURCE_DELAY
            | K::SOURCE_SSL
            | K::SOURCE_SSL_VERIFY_SERVER_CERT
            | K::SOURCE_LOG_POS
            | K::RELAY_LOG_POS
            | K::SOURCE_AUTO_POSITION
            | K::SOURCE_HEARTBEAT_PERIOD
            | K::GET_SOURCE_PUBLIC_KEY
            | K::SOURCE_ZSTD_COMPRESSION_LEVEL
            | K::IGNORE_SERVER_IDS
            | K::PRIVILEGE_CHECKS_USER
            | K::REQUIRE_ROW_FORMAT
            | K::REQUIRE_TABLE_PRIMARY_KEY_CHECK
            | K::SOURCE_CONNECTION_AUTO_FAILOVER
            | K::ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS
            | K::GTID_ONLY => self.advance(),
            _ => return self.fail(),
        }
        self.expect_kind(T::Equal)?;
        match keyword {
            K::IGNORE_SERVER_IDS => {
                self.open()?;
                if !self.at_kind(T::RightParenthesis) {
                    self.comma_list(Parser::integer)?;
                }
                return self.close();
            }
            K::PRIVILEGE_CHECKS_USER => {
                if !self.accept(K::NULL) {
                    self.account()?;
                }
            }
            K::REQUIRE_TABLE_PRIMARY_KEY_CHECK => {
                self.expect_any(&[K::STREAM, K::ON, K::OFF, K::GENERATE])?;
            }
            K::ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS => {
                if !self.accept(K::OFF) && !self.accept(K::LOCAL) {
                    self.string()?;
                }
            }
            K::SOURCE_TLS_CIPHERSUITES => {
                if !self.accept(K::NULL) {
                    self.string()?;
                }
            }
            _ => {
                if self.at_kind(T::String) {
                    self.advance();
                } else {
                    self.rounded()?;
                }
            }
        }
        Ok(())
    }

    fn replication_filter(&mut self) -> Result<()> {
        let keyword = self.expect_any(&[
            K::REPLICATE_DO_DB,
            K::REPLICATE_IGNORE_DB,
            K::REPLICATE_DO_TABLE,
            K::REPLICATE_IGNORE_TABLE,
            K::REPLICATE_WILD_DO_TABLE,
            K::REPLICATE_WILD_IGNORE_TABLE,
            K::REPLICATE_REWRITE_DB,
        ])?;
        self.expect_kind(T::Equal)?;
        self.open()?;
        if !self.at_kind(T::RightParenthesis) {
            self.comma_list(|p| match keyword {
                K::REPLICATE_DO_DB | K::REPLICATE_IGNORE_DB => p.identifier().map(|_| ()),
                K::REPLICATE_DO_TABLE | K::REPLICATE_IGNORE_TABLE => {
                    p.identifier()?;
                    p.expect_kind(T::Dot)?;
                    p.identifier().map(|_| ())
                }
                K::REPLICATE_REWRITE_DB => p
                    .parenthesised_list(Parser::identifier)
                    .and_then(|pair| if pair.len() == 2 { Ok(()) } else { p.fail() }),
                _ => p.string().map(|_| ()),
            })?;
        }
        self.close()
    }

    /// Behind `START` or `STOP`.
    pub(super) fn start_or_stop_replica(&mut self, begin: bool, start: u32) -> Result<Statement<'a>> {
        if self.accept(K::GROUP_REPLICATION) {
            while begin && self.at_any(&[K::USER, K::PASSWORD, K::DEFAULT_AUTH]) {
                self.advance();
                self.expect_kind(T::Equal)?;
                self.string()?;
                self.accept_kind(T::Comma);
            }
            return self.administrative(AdministrationKind::GroupReplication, None, start);
        }
        self.expect(K::REPLICA)?;
        while self.at_any(&[K::IO_THREAD, K::SQL_THREAD, K::RELAY_THREAD]) {
            self.advance();
            if self.accept_kind(T::Comma) && !self.at_any(&[K::IO_THREAD, K::SQL_THREAD, K::RELAY_THREAD]) {
                return self.fail();
            }
        }
        if begin && self.accept(K::UNTIL) {
            self.comma_list(|p| {
                let keyword = p.expect_any(&[
                    K::SQL_BEFORE_GTIDS,
                    K::SQL_AFTER_GTIDS,
                    K::SQL_AFTER_MTS_GAPS,
                    K::SOURCE_LOG_FILE,
                    K::SOURCE_LOG_POS,
                    K::RELAY_LOG_FILE,
                    K::RELAY_LOG_POS,
                ])?;
                if keyword == K::SQL_AFTER_MTS_GAPS {
                    return Ok(());
                }
                p.expect_kind(T::Equal)?;
                if matches!(keyword, K::SOURCE_LOG_POS | K::RELAY_LOG_POS) {
                    p.rounded()?;
                } else {
                    p.string()?;
                }
                Ok(())
            })?;
        }
        while begin && self.at_any(&[K::USER, K::PASSWORD, K::DEFAULT_AUTH, K::PLUGIN_DIR]) {
            self.advance();
            self.expect_kind(T::Equal)?;
            self.string()?;
        }
        self.for_channel()?;
        let kind = if begin { AdministrationKind::StartReplica } else { AdministrationKind::StopReplica };
        self.administrative(kind, None, start)
    }

    pub(super) fn reset(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        self.advance();
        if self.accept(K::PERSIST) {
            let if_exists = self.if_exists()?;
            let name = if if_exists || self.at_identifier() { Some(self.object_name()?.name.text) } else { None };
            return self.administrative(AdministrationKind::ResetPersist { if_exists }, name, start);
        }
        self.comma_list(|p| {
            match p.expect_any(&[K::REPLICA, K::BINARY])? {
                K::REPLICA => {
                    p.accept(K::ALL);
                    p.for_channel()?;
                }
                _ => {
                    p.expect_words(&[K::LOGS, K::AND, K::GTIDS])?;
                    if p.accept(K::TO) {
                        p.rounded()?;
                    }
                }
            }
            Ok(())
        })?;
        self.administrative(AdministrationKind::Reset, None, start)
    }

    /// `PURGE BINARY LOGS TO 'x'`, `.. BEFORE time`.
    pub(super) fn purge(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        self.advance();
        self.expect_words(&[K::BINARY, K::LOGS])?;
        if self.accept(K::TO) {
            self.string()?;
        } else {
            self.expect(K::BEFORE)?;
            self.expression()?;
        }
        self.administrative(AdministrationKind::PurgeLogs, None, start)
    }

    /// `BINLOG 'base64'`.
    pub(super) fn binlog(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        self.advance();
        self.string()?;
        self.administrative(AdministrationKind::BinlogReplay, None, start)
    }
}
