package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a client gets while a sandbox is being destroyed. */
class DestroyWithFakeProviderTest {
  private static final SandboxId ID = new SandboxId("ending");

  @TempDir Path folder;
  private FakeProvider provider;

  @BeforeEach
  void createProvider() {
    provider = new FakeProvider("gvisor");
  }

  private static void create(EngineFixture fixture) {
    SandboxSpec spec = SandboxSpec.builder(ID).build();
    fixture
        .engine
        .creator()
        .create(SandboxRequest.of(CreateRequest.of(spec, "gvisor")).withFixedId());
    assertThat(fixture.engine.sandboxes().get(ID).id()).isEqualTo(ID); // it is cached now
  }

  @Test
  void noCommandStartsWhileItIsDestroyed() throws IOException {
    AtomicReference<Throwable> used = new AtomicReference<>();
    try (EngineFixture fixture = new EngineFixture(folder, "", provider)) {
      create(fixture);
      provider.beforeDestroy =
          id -> {
            try {
              fixture.engine.sandboxes().get(id);
            } catch (SandboxException e) {
              used.set(e);
            }
          };
      fixture.engine.sandboxes().destroy(ID, DestroyOptions.NORMAL);
      assertThat(used.get()).isInstanceOf(Gone.class);
    }
  }

  @Test
  void sandboxWithUnsavedWorkStaysUsable() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "", provider)) {
      create(fixture);
      provider.beforeDestroy =
          id -> {
            throw Fault.of(ErrorCode.UNSAVED_WORK, "there are changes", "commit them").exception();
          };
      assertThatThrownBy(() -> fixture.engine.sandboxes().destroy(ID, DestroyOptions.NORMAL))
          .hasMessageContaining("changes");
      assertThat(fixture.engine.sandboxes().get(ID).id()).isEqualTo(ID);
      provider.beforeDestroy = id -> {};
      fixture.engine.sandboxes().destroy(ID, DestroyOptions.FORCE);
    }
  }
}
