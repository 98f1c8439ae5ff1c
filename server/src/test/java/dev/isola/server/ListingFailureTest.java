package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.testing.provider.TestProviderFactory;
import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A listing whose provider fails after some entries must not look complete. */
class ListingFailureTest {
  @TempDir Path folder;

  @Test
  void failureBeforeTheResponseBeginsIsAProblem() throws IOException {
    try (TestServer testServer = startServer(3)) {
      TestClient.Response answer = list(testServer);
      assertThat(answer.status()).as(answer.text()).isEqualTo(503);
      assertThat(answer.field("code")).isEqualTo("PROVIDER_UNAVAILABLE");
    }
  }

  @Test
  void laterFailureTruncatesTheResponse() {
    try (TestServer testServer = startServer(5_000)) {
      assertThatThrownBy(() -> fail("complete: " + list(testServer)))
          .isInstanceOf(EOFException.class);
    }
  }

  private static TestClient.Response list(TestServer testServer) throws IOException {
    String sandbox = testServer.client().post("/api/v1/sandboxes", "{}").field("id");
    String path = "/api/v1/sandboxes/" + sandbox + "/files?path=.&limit=10000";
    // Responses on a persistent connection have explicit framing.
    return testServer.client().send("GET", path, Map.of("Connection", "keep-alive"), new byte[0]);
  }

  private TestServer startServer(int entries) {
    return new TestServer(folder, Duration.ofSeconds(30), new FailingListing(entries));
  }

  /** The test provider, whose listings fail after some entries. */
  private record FailingListing(int entries) implements ProviderFactory {
    @Override
    public String name() {
      return new TestProviderFactory().name();
    }

    @Override
    public ProviderProfile profile() {
      return new TestProviderFactory().profile();
    }

    @Override
    public Provider create(ProviderConfig config, ProviderContext context) {
      return replace(
          Provider.class,
          new TestProviderFactory().create(config, context),
          "create",
          Sandbox.class,
          sandbox -> replace(Sandbox.class, sandbox, "files", FileSystem.class, this::failing));
    }

    private FileSystem failing(FileSystem files) {
      return replace(FileSystem.class, files, "list", Stream.class, _ -> found(files.stat(".")));
    }

    private Stream<FileInfo> found(FileInfo entry) {
      return IntStream.rangeClosed(0, entries)
          .mapToObj(
              i -> {
                if (i == entries) {
                  throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "the agent is gone", "try again")
                      .exception();
                }
                return entry;
              });
    }

    /** Replaces the result of one method; all other calls are forwarded. */
    private static <T, R> T replace(
        Class<T> type, T target, String method, Class<R> result, UnaryOperator<R> by) {
      return type.cast(
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (_, called, arguments) -> {
                Object returned;
                try {
                  returned = called.invoke(target, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
                return called.getName().equals(method) ? by.apply(result.cast(returned)) : returned;
              }));
    }
  }
}
