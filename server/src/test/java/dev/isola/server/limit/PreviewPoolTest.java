package dev.isola.server.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.SandboxException;
import org.junit.jupiter.api.Test;

class PreviewPoolTest {
  @Test
  void theLastQuarterIsKeptForRequestsWithAKey() {
    PreviewPool pool = new PreviewPool(4, 0);
    for (int i = 0; i < 3; i++) {
      pool.enter("box" + i, false);
    }
    assertThatThrownBy(() -> pool.enter("box", false))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("as many requests to previews as it may");
    Turnstile.Place last = pool.enter("box", true);
    assertThatThrownBy(() -> pool.enter("box", true)).isInstanceOf(SandboxException.class);
    last.close();
    last.close();
    pool.enter("box", true);
    assertThatThrownBy(() -> pool.enter("box", true)).isInstanceOf(SandboxException.class);
  }

  @Test
  void oneSandboxDoesNotTakeThePlacesOfAnother() {
    PreviewPool pool = new PreviewPool(100, 4);
    for (int i = 0; i < 3; i++) {
      pool.enter("loud", false);
    }
    assertThatThrownBy(() -> pool.enter("loud", false))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("this sandbox");
    pool.enter("loud", true);
    pool.enter("quiet", false);
  }

  @Test
  void namesThatClientsMakeUpAreForgotten() {
    PreviewPool pool = new PreviewPool(10, 10);
    for (int i = 0; i < 1000; i++) {
      pool.enter("made-up-" + i, false).close();
    }
    assertThat(pool.sandboxes()).isZero();
  }
}
