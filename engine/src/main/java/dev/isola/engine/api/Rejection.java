package dev.isola.engine.api;

/**
 * Why a provider is not a candidate.
 *
 * @param reason completes a sentence that starts with the provider name
 * @param fix how to resolve it; empty if nothing can be done
 */
public record Rejection(String provider, Kind kind, String reason, String fix) {
  /** The kind of reason; determines the error if no candidate is left. */
  public enum Kind {
    /** The provider is unhealthy, which may be temporary. */
    UNHEALTHY,
    /** The isolation is too weak for the request or the policy. */
    TOO_WEAK,
    /** The provider does not support something that the request requires. */
    UNSUPPORTED,
    /** The provider is usable but chosen only if a request names it. */
    ONLY_WHEN_NAMED,
    /** The provider is usable but emulates processors, which requests must ask for. */
    EMULATED,
    /** The provider is not in the requested region. */
    OTHER_REGION,
    /** The request names another provider. */
    NOT_NAMED
  }

  @Override
  public String toString() {
    return provider + ": " + reason + (fix.isEmpty() ? "" : " (" + fix + ")");
  }
}
