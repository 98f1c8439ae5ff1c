package dev.isola.app.microvmctl;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.IoErrors;
import dev.isola.client.Isola;
import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the private server of {@code microvmctl}, and starts it if it does not run. */
final class PrivateServer {
  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(5);
  private static final int LOG_LINES = 3;

  private final DataFolder folder;
  private final ServerFiles files;

  PrivateServer(DataFolder folder) {
    this.folder = folder;
    this.files = new ServerFiles(folder.path());
  }

  Isola connect() {
    Path _ = folder.createIfMissing();
    try {
      Optional<ServerFiles.Address> running = running();
      ServerFiles.Address address = running.isPresent() ? running.get() : start();
      return Isola.connect(address.url(), address.key());
    } catch (IOException e) {
      throw unavailable(IoErrors.describe(e), e);
    }
  }

  /**
   * Returns the address if a server holds the lock and listens, and tells the server that it is
   * needed. A server that is ending holds the lock, but does not listen.
   */
  private Optional<ServerFiles.Address> running() throws IOException {
    Optional<ServerFiles.Address> address = files.address();
    if (address.isEmpty() || !files.isLocked() || !listens(address.get())) {
      return Optional.empty();
    }
    try {
      Files.setLastModifiedTime(files.addressFile(), FileTime.from(Instant.now()));
      return address;
    } catch (NoSuchFileException ended) {
      return Optional.empty();
    }
  }

  private static boolean listens(ServerFiles.Address address) {
    URI url = URI.create(address.url());
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(url.getHost(), url.getPort()), (int) CONNECT_TIMEOUT.toMillis());
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Starts a server. Of several that start at the same time, one gets the lock and the others end;
   * so does one that starts while another is still ending, and is started again.
   */
  private ServerFiles.Address start() throws IOException {
    Deadline deadline = Deadline.in(START_TIMEOUT);
    Process server = launch();
    Optional<ServerFiles.Address> address = running();
    while (address.isEmpty()) {
      if (ended(server) && !files.isLocked()) {
        if (server.exitValue() != 0) {
          throw unavailable("it ended: " + lastLines(), null);
        }
        server = launch();
      }
      if (!deadline.pause(POLL_INTERVAL)) {
        throw unavailable("it did not start within " + START_TIMEOUT.toSeconds() + " s", null);
      }
      address = running();
    }
    return address.get();
  }

  private Process launch() throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command());
    builder.environment().keySet().removeIf(name -> name.equals("ISOLA_MICROVMCTL_CALL"));
    return builder
        .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
        .redirectOutput(Redirect.appendTo(files.log().toFile()))
        .redirectErrorStream(true)
        .start();
  }

  private static boolean ended(Process server) {
    try {
      return server.waitFor(0, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "the start of the server was interrupted", "try again")
          .exception(e);
    }
  }

  /** The data folder is that of the installation, from which the server derives its own. */
  private List<String> command() {
    Path installation = folder.path().toAbsolutePath().getParent();
    return Stream.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-Xlog:disable",
            "-Dslf4j.internal.verbosity=ERROR",
            "-XX:+UseSerialGC",
            "-XX:+UseCompactObjectHeaders",
            "-XX:+ExitOnOutOfMemoryError",
            "-Xms16m",
            "-cp",
            System.getProperty("java.class.path"),
            "dev.isola.app.Main",
            MicrovmctlCommand.NAME,
            ServeVerb.NAME,
            "--data",
            String.valueOf(installation))
        .toList();
  }

  private String lastLines() throws IOException {
    List<String> lines = Files.readAllLines(files.log());
    return String.join(" ", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
  }

  private SandboxException unavailable(String why, @Nullable Throwable e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the server of microvmctl is not available: " + why,
            "see " + files.log() + ", or set ISOLA_URL to a server")
        .exception(e);
  }
}
