package dev.isola.server.peer;

/** The result of asking another server. */
enum PeerOutcome {
  /** It answered. */
  ANSWERED,
  /** It does not own the sandbox. It did nothing. */
  MOVED,
  /** It could not be reached, or left without a response to a request that can be repeated. */
  UNREACHABLE,
  /** It left without a response, and may have done what the client asked for. */
  UNKNOWN
}
