package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A create can be read: few calls lie between the route, which calls the engine, and Launcher. */
class CreatePathTest {
  /**
   * Together with the four of {@code LocalProvider} and {@code IsolatedBooter}, at most 15 lie
   * between the route and {@code Launcher}.
   */
  private static final int MOST = 11;

  @TempDir Path folder;

  @Test
  void createReachesTheProviderInFewFrames() throws Exception {
    FakeProvider provider = new FakeProvider("docker");
    try (EngineFixture fixture = new EngineFixture(folder, "", provider)) {
      List<String> frames = new ArrayList<>();
      Thread route = Thread.currentThread();
      provider.beforeCreate =
          () -> {
            frames.addAll(ofEngine(Thread.currentThread()));
            frames.addAll(ofEngine(route)); // it waits for the thread of the provider
          };
      SandboxSpec spec = SandboxSpec.builder(new SandboxId("path")).build();
      fixture.engine.creator().create(SandboxRequest.of(CreateRequest.of(spec, "docker")));
      assertThat(frames).contains("dev.isola.engine.api.sandbox.SandboxBoot.at");
      assertThat(frames).as("frames: %s", frames).hasSizeLessThanOrEqualTo(MOST);
    }
  }

  /** Returns the frames of a thread that belong to the engine, without its tests. */
  private static List<String> ofEngine(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .filter(one -> one.getClassName().startsWith("dev.isola.engine."))
        .filter(one -> !one.getClassName().matches(".*(CreatePathTest|FakeProvider).*"))
        .map(one -> one.getClassName() + "." + one.getMethodName())
        .toList();
  }
}
