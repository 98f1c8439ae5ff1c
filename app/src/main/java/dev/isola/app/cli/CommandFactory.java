package dev.isola.app.cli;

/**
 * Makes a command that is not part of a release; found by {@link java.util.ServiceLoader} in a jar
 * beside the release's own. Loading it and asking for its name must be cheap.
 */
public interface CommandFactory {
  /** Returns the word after {@code isola}. */
  String name();

  /** Returns the command, annotated for picocli. */
  CliCommand create(CommandContext wiring);
}
