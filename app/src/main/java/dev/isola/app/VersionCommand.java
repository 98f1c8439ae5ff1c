package dev.isola.app;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import picocli.CommandLine.Command;

/** {@code isola version}. */
@Command(name = "version", description = "Show the version.")
final class VersionCommand implements Action {
  /** Maven puts it into the jar. */
  private static final String PROPERTIES = "/META-INF/maven/dev.isola/isola-app/pom.properties";

  private final Wiring wiring;

  VersionCommand(Wiring wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    Console console = wiring.console();
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

  static String version() {
    Properties properties = new Properties();
    try (InputStream in = VersionCommand.class.getResourceAsStream(PROPERTIES)) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      // as if there were none
    }
    return properties.getProperty("version", "development");
  }
}
