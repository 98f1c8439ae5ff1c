package dev.isola.app.remote;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.app.remote.Contexts.Context;
import dev.isola.client.Isola;
import dev.isola.client.IsolaOptions;
import dev.isola.client.SandboxFilter;
import dev.isola.client.error.IsolaException;
import dev.isola.codec.json.Json;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola login}. */
@Command(
    name = "login",
    description = {
      "Log in to a server and store its URL and API key.",
      "Prompts for the key and verifies it. Other commands then use this server."
    })
public final class LoginCommand implements CliCommand {
  private static final int MAX_KEY_LENGTH = 4096;

  private final CommandContext context;

  @Parameters(paramLabel = "URL", description = "URL of the server, such as http://127.0.0.1:7777.")
  private String url = "";

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Name of the context. Default: the host of the URL.")
  private @Nullable String name;

  @Option(names = "--key-stdin", description = "Read the key from stdin instead of prompting.")
  private boolean stdin;

  public LoginCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    String chosen = name == null ? defaultName() : name;
    if (!chosen.matches("[A-Za-z0-9_-]{1,64}")) {
      throw new UsageException(
          "--name '" + chosen + "' is not a valid name", "use letters, digits, - and _");
    }
    try {
      IsolaOptions.of(url, "-"); // reject an invalid URL before prompting for the key
      IsolaOptions options = IsolaOptions.of(url, key());
      try (Isola isola = Isola.connect(options)) {
        isola.list(SandboxFilter.ALL.state("creating"));
      }
      Contexts.of(context.environment().variables())
          .put(new Context(chosen, options.url().toString(), options.key()));
      warn(console, options.url());
    } catch (IsolaException e) {
      throw RemoteFault.of(e);
    }
    if (console.json()) {
      console.print(Json.object("context", chosen, "url", url));
    } else {
      console.print("logged in to " + url + " as context " + chosen + "\n");
    }
    return ExitCodes.OK;
  }

  private String defaultName() {
    try {
      String host = URI.create(url.strip()).getHost();
      return host == null ? "default" : host.replaceAll("[^A-Za-z0-9_-]", "-");
    } catch (IllegalArgumentException e) {
      return "default";
    }
  }

  private static void warn(Console console, URI url) {
    boolean loopback =
        url.getHost().equals("localhost")
            || url.getHost().startsWith("127.")
            || url.getHost().equals("[::1]");
    if (url.getScheme().equals("http") && !loopback) {
      console.printErr(
          "requests and keys are sent to " + url.getHost() + " unencrypted; use https");
    }
  }

  private String key() {
    HiddenInput input = new HiddenInput(context.environment());
    if (stdin || !context.environment().tty().in()) {
      return input.line(MAX_KEY_LENGTH);
    }
    return input.readLine("Key: ", MAX_KEY_LENGTH);
  }
}
