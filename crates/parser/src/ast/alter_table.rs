//! ALTER TABLE.

use super::*;

#[derive(Clone, Copy, Debug)]
pub struct AlterTable<'a> {
    pub name: ObjectName<'a>,
    /// In the order written. ALGORITHM, LOCK and VALIDATION are among them.
    pub actions: List<'a, AlterAction<'a>>,
    /// At the end: PARTITION BY, REMOVE PARTITIONING.
    pub partitioning: Option<AlterPartitioning<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum AlterPartitioning<'a> {
    By(&'a Partitioning<'a>),
    Remove,
}

#[derive(Clone, Copy, Debug)]
pub enum ColumnPosition<'a> {
    First,
    After(Identifier<'a>),
}

#[derive(Clone, Copy, Debug)]
pub enum AlterAction<'a> {
    AddColumn {
        column: &'a ColumnDefinition<'a>,
        position: Option<ColumnPosition<'a>>,
    },
    /// `ADD (a int, KEY (a))`.
    AddElements(List<'a, TableElement<'a>>),
    AddConstraint(&'a TableConstraint<'a>),
    ChangeColumn {
        old: Identifier<'a>,
        column: &'a ColumnDefinition<'a>,
        position: Option<ColumnPosition<'a>>,
    },
    ModifyColumn {
        column: &'a ColumnDefinition<'a>,
        position: Option<ColumnPosition<'a>>,
    },
    DropColumn(Identifier<'a>),
    DropIndex(Identifier<'a>),
    DropPrimaryKey,
    DropForeignKey(Identifier<'a>),
    DropCheck(Identifier<'a>),
    DropConstraint(Identifier<'a>),
    SetDefault {
        column: Identifier<'a>,
        value: Expression<'a>,
    },
    DropDefault(Identifier<'a>),
    /// None is DROP MASKING POLICY.
    SetMaskingPolicy {
        column: Identifier<'a>,
        policy: Option<Identifier<'a>>,
    },
    SetColumnVisibility {
        column: Identifier<'a>,
        visible: bool,
    },
    SetIndexVisibility {
        index: Identifier<'a>,
        visible: bool,
    },
    /// `ALTER CHECK name [NOT] ENFORCED`; `ALTER CONSTRAINT` with `any_kind`.
    SetEnforced {
        name: Identifier<'a>,
        any_kind: bool,
        enforced: bool,
    },
    Rename(ObjectName<'a>),
    RenameColumn {
        old: Identifier<'a>,
        new: Identifier<'a>,
    },
    RenameIndex {
        old: Identifier<'a>,
        new: Identifier<'a>,
    },
    /// `CONVERT TO CHARACTER SET x COLLATE y`.
    ConvertTo {
        character_set: CharacterSetName<'a>,
        collation: Option<CharacterSetName<'a>>,
    },
    EnableKeys,
    DisableKeys,
    Force,
    OrderBy(List<'a, OrderItem<'a>>),
    Option(TableOption<'a>),
    /// The name: `DEFAULT`, `INSTANT`, `INPLACE`, `COPY`.
    Algorithm(Text<'a>),
    /// The name: `DEFAULT`, `NONE`, `SHARED`, `EXCLUSIVE`.
    Lock(Text<'a>),
    Validation(bool),
    /// `DISCARD TABLESPACE`, `IMPORT TABLESPACE`.
    DiscardTablespace,
    ImportTablespace,
    AddPartitions {
        definitions: List<'a, PartitionDefinition<'a>>,
        count: Option<Text<'a>>,
    },
    DropPartitions(List<'a, Identifier<'a>>),
    CoalescePartitions(Text<'a>),
    ReorganizePartitions {
        partitions: List<'a, Identifier<'a>>,
        into: List<'a, PartitionDefinition<'a>>,
    },
    ExchangePartition {
        partition: Identifier<'a>,
        table: ObjectName<'a>,
        validation: Option<bool>,
    },
    /// What is done with partitions as they are; none listed is all of them.
    Partitions {
        action: PartitionAction,
        partitions: List<'a, Identifier<'a>>,
    },
    SecondaryLoad,
    SecondaryUnload,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionAction {
    Truncate,
    Analyze,
    Check,
    Optimize,
    Rebuild,
    Repair,
    DiscardTablespace,
    ImportTablespace,
    SecondaryLoad,
    SecondaryUnload,
}
