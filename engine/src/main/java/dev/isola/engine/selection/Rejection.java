package dev.isola.engine.selection;

/**
 * Why a provider is not a candidate.
 *
 * @param reason what stands in the way, as the end of a sentence about the provider
 * @param fix what somebody does about it; empty when there is nothing to do
 */
public record Rejection(String provider, Kind kind, String reason, String fix) {
  /** What kind of reason it is; it decides what the caller is told when nobody is left. */
  public enum Kind {
    /** It does not work now, and may later. */
    UNHEALTHY,
    /** It is too weak for the request or for this installation. */
    TOO_WEAK,
    /** It does not do something the request needs. */
    UNSUPPORTED,
    /** It works and would do, but is used only when it is named. */
    ONLY_WHEN_NAMED,
    /** It is not in the region that was asked for. */
    OTHER_REGION,
    /** Another one was named. */
    NOT_NAMED
  }

  @Override
  public String toString() {
    return provider + ": " + reason + (fix.isEmpty() ? "" : " (" + fix + ")");
  }
}
