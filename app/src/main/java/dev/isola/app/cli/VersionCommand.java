package dev.isola.app.cli;

import dev.isola.engine.api.IsolaVersion;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;

/** Implements {@code isola version}. */
@Command(name = "version", description = "Print the version.")
public final class VersionCommand implements CliCommand {
  private final CommandContext context;

  public VersionCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    String java = Runtime.version().toString();
    String system = System.getProperty("os.name") + " " + System.getProperty("os.arch");
    if (console.json()) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("version", version());
      json.put("java", java);
      json.put("system", system);
      console.print(json);
    } else {
      console.print("isola " + version() + " (Java " + java + ", " + system + ")\n");
    }
    return ExitCodes.OK;
  }

  public static String version() {
    return IsolaVersion.current();
  }
}
