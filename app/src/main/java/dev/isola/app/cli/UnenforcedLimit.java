package dev.isola.app.cli;

/** The warning about a limit that a command line requests and the chosen provider cannot hold. */
public final class UnenforcedLimit {
  private UnenforcedLimit() {}

  /**
   * @param option that requests the limit
   * @param limit its name in the API
   * @param machine where the sandbox runs, such as {@code this machine}
   */
  public static String warning(String option, String provider, String limit, String machine) {
    return option
        + " is not enforced: "
        + provider
        + " cannot limit "
        + limit
        + " on "
        + machine
        + "; run isola doctor for details";
  }
}
