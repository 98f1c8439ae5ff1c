package dev.isola.snapshot.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.UniqueResources;
import dev.isola.spi.Secret;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A real S3-compatible service with a bucket, if it is installed. */
final class S3Server implements AutoCloseable {
  private static final String BUCKET = "snapshots-1";
  private static final String USER = "isola-test";
  private static final String SECRET = "canary-of-the-bucket";

  private final Process process;
  private final URI endpoint;

  private S3Server(Process process, URI endpoint) {
    this.process = process;
    this.endpoint = endpoint;
  }

  /** MinIO, a widely used object store. */
  static S3Server minio(Path data) throws IOException, InterruptedException {
    return start("minio", "go install github.com/minio/minio@latest", data, "server", "--address");
  }

  /** The S3 gateway of Versity over a folder. */
  static S3Server versity(Path data) throws IOException, InterruptedException {
    return start(
        "versitygw",
        "go install github.com/versity/versitygw/cmd/versitygw@latest",
        data,
        "--port");
  }

  private static S3Server start(String program, String install, Path data, String... words)
      throws IOException, InterruptedException {
    Path found =
        Stream.of(
                (System.getenv("PATH") + ":" + System.getProperty("user.home") + "/go/bin")
                    .split(":", -1))
            .map(folder -> Path.of(folder, program))
            .filter(Files::isExecutable)
            .findFirst()
            .orElse(null);
    if (found == null) {
      Assumptions.abort("NOT RUN: " + program + " is not on the PATH (" + install + ")");
    }
    int port = UniqueResources.reservePort();
    List<String> command = new ArrayList<>();
    command.add(found.toString());
    command.addAll(List.of(words));
    command.add("127.0.0.1:" + port);
    if (program.equals("versitygw")) {
      command.add("posix");
    }
    command.add(Files.createDirectories(data.resolve("data")).toString());
    ProcessBuilder builder = new ProcessBuilder(command);
    builder
        .environment()
        .putAll(
            Map.of(
                "MINIO_ROOT_USER",
                USER,
                "MINIO_ROOT_PASSWORD",
                SECRET,
                "MINIO_BROWSER",
                "off",
                "MINIO_DOMAIN",
                LocalNames.DOMAIN,
                "VGW_VIRTUAL_DOMAIN",
                LocalNames.DOMAIN,
                "ROOT_ACCESS_KEY",
                USER,
                "ROOT_SECRET_KEY",
                SECRET,
                "HOME",
                data.toString()));
    File log = data.resolve("log").toFile();
    S3Server server =
        new S3Server(
            builder.redirectErrorStream(true).redirectOutput(log).start(),
            URI.create("http://127.0.0.1:" + port));
    try {
      server.makeBucket();
      return server;
    } catch (IOException | RuntimeException e) {
      server.close();
      throw new IOException(
          program + " did not start: " + Files.readString(log.toPath(), UTF_8), e);
    }
  }

  private void makeBucket() throws IOException {
    try (S3Client bucket = new S3Client(config(""), Clock.systemUTC(), S3Client.FIRST_PAUSE)) {
      IOException last = new IOException("it ended");
      for (int i = 0; i < 20 && process.isAlive(); i++) {
        try {
          bucket.send(S3Client.S3Request.put("", Map.of(), S3Client.Body.NONE), 200);
          return;
        } catch (IOException e) {
          last = e; // Not up yet; retries with increasing delays.
        }
      }
      throw last;
    }
  }

  S3Config config(String prefix) {
    return config(endpoint, prefix, true);
  }

  /** Returns the configuration with virtual-host addressing. */
  S3Config byHost(String prefix) {
    URI named = URI.create("http://" + LocalNames.DOMAIN + ":" + endpoint.getPort());
    return config(named, prefix, false);
  }

  private static S3Config config(URI at, String prefix, boolean pathStyle) {
    return new S3Config(
        at, "us-east-1", BUCKET, prefix, pathStyle, USER, Secret.of(SECRET), Optional.empty());
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
