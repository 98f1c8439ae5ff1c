package dev.isola.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.junit.Sandboxed;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Tests of a user, which {@link JUnitVersionsTest} runs; not found by the build itself. */
@Sandboxed(provider = "subprocess")
class SandboxedExample {
  @BeforeEach
  void prepare(Sandbox sandbox) {
    sandbox.files().write("input.txt", "21");
  }

  @Test
  void runsACommand(Sandbox sandbox) {
    assertEquals("42\n", sandbox.exec("echo $((2 * $(cat input.txt)))").stdout());
  }

  @Test
  void getsTheClient(Sandbox sandbox, Isola isola) {
    assertTrue(
        isola.list(SandboxFilter.ALL).stream().anyMatch(info -> info.id().equals(sandbox.id())));
  }

  @Nested
  class Inner {
    @Test
    void inheritsTheSettings(Sandbox sandbox) {
      assertEquals("subprocess", sandbox.info().provider());
    }
  }
}
