package dev.isola.app;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The real command {@code microvmctl} as a program in a folder, with bubblewrap as its backend. Its
 * server is private and ends with {@link #close}.
 */
final class MicrovmctlProgram implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(90);

  /** The end of a process. */
  record Finished(int code, String out, String err) {}

  private final Path bin;
  private final Path data;

  private MicrovmctlProgram(Path bin, Path data) {
    this.bin = bin;
    this.data = data;
  }

  static MicrovmctlProgram install(Path folder) throws IOException {
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Path data = folder.resolve("data");
    Path file = bin.resolve("microvmctl");
    Files.writeString(
        file,
        """
        #!/bin/sh
        unset ISOLA_URL ISOLA_API_KEY
        export ISOLA_DATA='%s' ISOLA_MICROVMCTL_BACKEND=bubblewrap
        exec '%s/bin/java' --enable-native-access=ALL-UNNAMED -XX:TieredStopAtLevel=1 \\
          -XX:+UseSerialGC -Xlog:disable -Dslf4j.internal.verbosity=ERROR -cp '%s' \\
          dev.isola.app.Main microvmctl "$@"
        """
            .formatted(
                data, System.getProperty("java.home"), System.getProperty("java.class.path")));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    return new MicrovmctlProgram(bin, data);
  }

  /** Returns the program. */
  Path path() {
    return bin.resolve("microvmctl");
  }

  /** Runs a line of a shell in which {@code microvmctl} is this program. */
  Finished shell(String line) throws IOException, InterruptedException {
    return run(List.of("sh", "-c", line), "");
  }

  Finished run(List<String> words, String stdin) throws IOException, InterruptedException {
    Path out = Files.createTempFile(bin, "out", "");
    Path err = Files.createTempFile(bin, "err", "");
    ProcessBuilder builder =
        new ProcessBuilder(words).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().merge("PATH", bin.toString(), (path, own) -> own + ":" + path);
    Process process = builder.start();
    process.getOutputStream().write(stdin.getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().close();
    if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException(words + " does not end: " + Files.readString(err));
    }
    return new Finished(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  /** Returns the private server; empty if none runs. */
  List<ProcessHandle> servers() {
    return ProcessHandle.allProcesses().filter(this::isServer).toList();
  }

  /** Reads /proc, because ProcessHandle knows no arguments of a long command line. */
  private boolean isServer(ProcessHandle process) {
    try {
      String line = Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"));
      return line.endsWith("\0microvmctl\0serve\0--data\0" + data + "\0");
    } catch (IOException e) {
      return false; // it has ended
    }
  }

  /** Ends the server. */
  @Override
  public void close() {
    for (ProcessHandle server : servers()) {
      server.destroy();
      server.onExit().orTimeout(30, TimeUnit.SECONDS).join();
    }
  }
}
