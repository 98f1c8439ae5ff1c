package dev.isola.spi.provider;

/**
 * A part of the contract that every sandbox should have, and that a provider may lack if its
 * backend can only run a command and wait for its end. {@link ProviderInfo#lacks} declares it; a
 * call that needs it throws {@code NOT_IMPLEMENTED} and names it.
 */
public enum BasicFeature {
  /** Output arrives while the command runs, and input is passed on while it runs. */
  LIVE_STREAMS("input and output while a command runs"),
  SIGNALS("signals other than KILL"),
  /** A process that a command leaves behind keeps running. */
  BACKGROUND_PROCESSES("processes that outlive their command"),
  PROCESS_IDS("process ids"),
  DEEP_LISTS("listing more than one level"),
  PATTERNS("searching by a pattern"),
  ARCHIVES("archives"),
  ATTRIBUTES("extended attributes");

  private final String displayName;

  BasicFeature(String displayName) {
    this.displayName = displayName;
  }

  /** Returns the name of the feature in error messages. */
  public String displayName() {
    return displayName;
  }
}
