package dev.isola.app.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.api.Log;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CertificateRenewalTest {
  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final Log log =
      new Log() {
        @Override
        public void info(String sentence) {}

        @Override
        public void warning(String sentence) {
          warnings.add(sentence);
        }
      };

  @Test
  void renewsRepeatedlyEvenAfterAFailure() {
    AtomicInteger calls = new AtomicInteger();
    try (CertificateRenewal _ =
        CertificateRenewal.start(
            Duration.ofMillis(1),
            () -> {
              if (calls.incrementAndGet() == 1) {
                throw new IllegalStateException("planted");
              }
            },
            log)) {
      await().atMost(Duration.ofSeconds(20)).until(() -> calls.get() > 2);
    }
    assertThat(warnings).singleElement().asString().contains("planted");
  }
}
