package dev.isola.app.cli;

import dev.isola.spi.provider.ProviderFactory;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * Environment of a command: standard streams, environment variables and installed providers. Tests
 * pass their own. The streams are unbuffered, so that output appears immediately.
 *
 * @param tty which of the three streams are terminals
 * @param factories the installed providers
 * @param commands additional commands from jars next to the release's own
 */
public record CliEnvironment(
    InputStream in,
    OutputStream out,
    OutputStream err,
    TtyStatus tty,
    Map<String, String> variables,
    Iterable<ProviderFactory> factories,
    Iterable<CommandFactory> commands) {

  /** Creates the environment of a release, without additional commands. */
  public CliEnvironment(
      InputStream in,
      OutputStream out,
      OutputStream err,
      TtyStatus interactive,
      Map<String, String> env,
      Iterable<ProviderFactory> factories) {
    this(in, out, err, interactive, env, factories, List.of());
  }

  public record TtyStatus(boolean in, boolean out, boolean err) {
    public static final TtyStatus NONE = new TtyStatus(false, false, false);
  }

  public static CliEnvironment ofProcess() {
    return new CliEnvironment(
        new FileInputStream(FileDescriptor.in),
        new FileOutputStream(FileDescriptor.out),
        new FileOutputStream(FileDescriptor.err),
        new TtyStatus(isTerminal(0), isTerminal(1), isTerminal(2)),
        System.getenv(),
        ServiceLoader.load(ProviderFactory.class, PluginFolder.classLoader()),
        ServiceLoader.load(CommandFactory.class));
  }

  /**
   * Reads /proc, because isatty needs native code and {@code java.io.Console} does not distinguish
   * the streams.
   */
  private static boolean isTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/")
          || target.startsWith("/dev/tty")
          || target.equals("/dev/console");
    } catch (IOException e) {
      return false;
    }
  }
}
