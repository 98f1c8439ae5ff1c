package dev.isola.provider.oci;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

/**
 * A provider whose runtime is a script. In /tmp, which the launcher covers, the script would not
 * know its own folder.
 */
final class ScriptedRuntime implements AutoCloseable {
  /** Stands for the folder of the script in its text. */
  static final String FOLDER = "@FOLDER@";

  private final Path folder;
  private final Path data;
  private final Path script;

  ScriptedRuntime(String text) throws IOException {
    folder = Files.createTempDirectory(Path.of("/var/tmp"), "isola-planted");
    data = Files.createTempDirectory("isola");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    script = Files.writeString(folder.resolve("runtime"), text.replace(FOLDER, folder.toString()));
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  ProviderUnderTest in(ProviderFactory factory) {
    return new ProviderUnderTest(
        factory,
        new ProviderConfig(Map.of("program", script.toString(), "platform", "ptrace")),
        new InstanceId("planted"),
        data);
  }

  Path script() {
    return script;
  }

  Path folder() {
    return folder;
  }

  Path data() {
    return data;
  }

  @Override
  public void close() {
    TemporaryFolder.remove(folder);
    TemporaryFolder.remove(data);
  }
}
