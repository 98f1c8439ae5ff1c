package dev.isola.app.remote;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.app.remote.Contexts.Context;
import dev.isola.app.terminal.NativeTerminal;
import dev.isola.client.Isola;
import dev.isola.client.IsolaOptions;
import dev.isola.client.SandboxFilter;
import dev.isola.client.error.IsolaException;
import dev.isola.codec.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
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
  private static final int LONGEST_KEY = 4096;

  private final CommandContext wiring;

  @Parameters(paramLabel = "URL", description = "URL of the server, such as http://127.0.0.1:7777.")
  private String url = "";

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Name of the context. Default: the host of the URL.")
  private @Nullable String name;

  @Option(names = "--key-stdin", description = "Read the key from stdin instead of prompting.")
  private boolean stdin;

  public LoginCommand(CommandContext wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    Console console = wiring.console();
    String chosen = name == null ? usualName() : name;
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
      Contexts.of(wiring.environment().variables())
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

  private String usualName() {
    try {
      String host = URI.create(url.strip()).getHost();
      return host == null ? "default" : host.replaceAll("[^A-Za-z0-9_-]", "-");
    } catch (IllegalArgumentException e) {
      return "default";
    }
  }

  private static void warn(Console console, URI url) {
    boolean near =
        url.getHost().equals("localhost")
            || url.getHost().startsWith("127.")
            || url.getHost().equals("[::1]");
    if (url.getScheme().equals("http") && !near) {
      console.printErr(
          "requests and keys are sent to " + url.getHost() + " unencrypted; use https");
    }
  }

  private String key() {
    if (stdin || !wiring.environment().tty().in()) {
      return line();
    }
    NativeTerminal terminal = new NativeTerminal(0);
    terminal.save();
    Thread hook = new Thread(terminal::restore, "isola-terminal");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      prompt("Key: ");
      terminal.disableEcho();
      return line();
    } finally {
      terminal.restore();
      prompt("\n");
      Runtime.getRuntime().removeShutdownHook(hook);
    }
  }

  private void prompt(String text) {
    try {
      wiring.environment().err().write(text.getBytes(StandardCharsets.UTF_8));
      wiring.environment().err().flush();
    } catch (IOException e) {
      // The prompt is optional.
    }
  }

  private String line() {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try {
      for (int c = wiring.environment().in().read();
          c >= 0 && c != '\n' && line.size() < LONGEST_KEY;
          c = wiring.environment().in().read()) {
        line.write(c);
      }
    } catch (IOException e) {
      // An incomplete key is rejected by the server.
    }
    return line.toString(StandardCharsets.UTF_8).strip();
  }
}
