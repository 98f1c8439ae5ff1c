package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Isola;
import dev.isola.client.Secrets.SecretInfo;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Implements {@code isola secrets set}. The value is never an argument, which every user of the
 * machine could read in the process list.
 */
@Command(
    name = "set",
    description = {
      "Store a secret, or replace its value, hosts and keys.",
      "The value comes from a file, an environment variable or stdin; one line break at its end is"
          + " removed. On a terminal it is not displayed."
    })
final class SecretsSetCommand extends RemoteCommand {
  /** One byte more than a server stores, and a line break. */
  private static final int MAX_BYTES = 64 * 1024 + 3;

  @Parameters(
      paramLabel = "NAME",
      description = "Name of the secret: letters, digits, '.', '_' and '-'.")
  private String name = "";

  @Option(
      names = "--host",
      paramLabel = "HOST",
      required = true,
      description =
          "Host that receives the value: a name, or *.SUFFIX for every name beneath it."
              + " Repeatable.")
  private List<String> hosts = new ArrayList<>();

  @Option(
      names = "--key",
      paramLabel = "KEY",
      description =
          "Name of an API key that may use the secret in a sandbox. Repeatable. Default: every key"
              + " with scope use.")
  private List<String> keys = new ArrayList<>();

  @Option(names = "--from-file", paramLabel = "FILE", description = "Read the value from a file.")
  private @Nullable Path file;

  @Option(
      names = "--from-env",
      paramLabel = "VARIABLE",
      description = "Read the value from an environment variable.")
  private @Nullable String variable;

  SecretsSetCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    if (file != null && variable != null) {
      throw new UsageException(
          "--from-file and --from-env exclude each other", "use one of them, or stdin");
    }
    SecretInfo secret = isola.secrets().put(name, value(), hosts, keys);
    if (console.json()) {
      console.print(secret.document());
    } else {
      console.print(secret.name() + ": sent to " + String.join(", ", secret.hosts()) + " only\n");
    }
    return ExitCodes.OK;
  }

  private String value() {
    if (variable != null) {
      String value = context.environment().variables().get(variable);
      if (value == null) {
        throw new UsageException(
            "the environment variable " + variable + " is not set", "set it, or use stdin");
      }
      return value;
    }
    if (file == null && context.environment().tty().in()) {
      return new HiddenInput(context.environment()).readLine("Value: ", MAX_BYTES);
    }
    try (InputStream in = file == null ? context.environment().in() : Files.newInputStream(file)) {
      return new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8)
          .replaceFirst("\r?\n\\z", "");
    } catch (IOException e) {
      throw new UsageException(
          "the value cannot be read: " + IoErrors.describe(e), "check the file");
    }
  }
}
