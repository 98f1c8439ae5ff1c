package dev.isola.server.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.SandboxException;
import org.junit.jupiter.api.Test;

class PreviewLimiterTest {
  @Test
  void lastQuarterIsReservedForAuthenticatedRequests() {
    PreviewLimiter pool = new PreviewLimiter(4, 0);
    for (int i = 0; i < 3; i++) {
      pool.acquire("box" + i, false);
    }
    assertThatThrownBy(() -> pool.acquire("box", false))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("limit of concurrent requests to previews");
    RateLimiter.Permit last = pool.acquire("box", true);
    assertThatThrownBy(() -> pool.acquire("box", true)).isInstanceOf(SandboxException.class);
    last.close();
    last.close();
    pool.acquire("box", true);
    assertThatThrownBy(() -> pool.acquire("box", true)).isInstanceOf(SandboxException.class);
  }

  @Test
  void limitPerSandboxIsIndependentOfOtherSandboxes() {
    PreviewLimiter pool = new PreviewLimiter(100, 4);
    for (int i = 0; i < 3; i++) {
      pool.acquire("loud", false);
    }
    assertThatThrownBy(() -> pool.acquire("loud", false))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("the sandbox");
    pool.acquire("loud", true);
    pool.acquire("quiet", false);
  }

  @Test
  void releasedSandboxesAreNotRetained() {
    PreviewLimiter pool = new PreviewLimiter(10, 10);
    for (int i = 0; i < 1000; i++) {
      pool.acquire("made-up-" + i, false).close();
    }
    assertThat(pool.sandboxes()).isZero();
  }
}
