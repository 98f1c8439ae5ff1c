package dev.isola.app.cli;

/**
 * Creates a command that is not part of a release. Implementations are found by {@link
 * java.util.ServiceLoader} in jars next to the release's own; loading one and calling {@link #name}
 * must be cheap.
 */
public interface CommandFactory {
  /** Returns the name of the command: the word after {@code isola}. */
  String name();

  /** Returns the command object, annotated for picocli. */
  CliCommand create(CommandContext context);
}
