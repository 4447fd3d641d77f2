//! What a driver can do wrong (cases.md: drivers in the wild).

/// One thing that a driver does wrong; `None` is a good driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vice {
    None,
    /// INTERNAL to everything.
    NothingWorks,
    /// What should be refused with a code of its own is INTERNAL.
    ErrorsAreInternal,
    /// INTERNAL after the bucket was made.
    MakesAndFails,
    /// Nobody is answered any more, from the first grant on.
    DiesAtGrant,
    NoName,
    NoProtocols,
    /// Another answer to each DriverGetInfo.
    ChangingInfo,
    NoHealth,
    NoReflection,
    FileBesideSocket,
    SocketOpenToAll,

    EmptyBucketId,
    EndlessBucketId,
    BucketIdWithColon,
    NoBucketInfo,
    InfoOfOtherProtocol,
    NewBucketEachCreate,
    ParametersNotCompared,
    UnsupportedProtocolAccepted,
    UnknownProtocolAccepted,
    UnknownParameterAccepted,
    EmptyNameAccepted,
    PanicsOnLongNames,
    ShortensNames,

    DeleteOfAbsentIsNotFound,
    BucketSurvivesDelete,
    DeletesRecursively,
    EmptyIdIsNothingToDo,
    NoExisting,
    ExistingMakesBuckets,

    NoByName,
    DeleteByNameTakesOthers,
    RevokeByNameTakesOthers,
    DeleteByNameDoesNothing,

    EmptyAccountId,
    NewAccountEachGrant,
    NewKeyEachGrant,
    GrantsNotCompared,
    GrantWithoutRegion,
    ServiceAccountInternal,
    UnknownModeAccepted,
    UnknownAuthenticationAccepted,
    ModeIgnored,
    KeyOpensAllBuckets,
    KeySurvivesRevoke,
    AccountSurvivesRevoke,
    RevokeNeedsBucket,
    OneBucketIsInternal,

    CreateLandsLate,
    GrantLandsLate,
    NotAfterUnknown,
    RaceLeavesBucket,
    OverlappingCreatesMakeTwo,
    ForgetsOnRestart,

    EmptyMessages,
    Details,
    EndlessMessages,
    CredentialInMessage,
    /// The whole backend, keys and parameters, in an error with the wrong code, which a report has to quote.
    EverythingInMessage,
    ParameterInMessage,
}
