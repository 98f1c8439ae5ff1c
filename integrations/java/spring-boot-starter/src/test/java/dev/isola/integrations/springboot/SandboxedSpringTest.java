package dev.isola.integrations.springboot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.junit.Sandboxed;
import dev.isola.testing.server.TestServer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** An application with a service that uses sandboxes, and its test. */
@Timeout(60)
@Sandboxed
@SpringBootTest(classes = SandboxedSpringTest.Application.class)
class SandboxedSpringTest {
  /** Counts words in a sandbox. */
  record WordCounter(Isola isola) {
    int count(String sandbox, String file) {
      String output = isola.sandbox(sandbox).exec("wc -w < " + file).stdout();
      return Integer.parseInt(output.strip());
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({IsolaAutoConfiguration.class, IsolaHealthAutoConfiguration.class})
  static class Application {
    @Bean
    WordCounter wordCounter(Isola isola) {
      return new WordCounter(isola);
    }
  }

  @DynamicPropertySource
  static void server(DynamicPropertyRegistry registry) {
    registry.add("isola.url", () -> TestServer.shared().url());
    registry.add("isola.key", () -> TestServer.shared().key());
  }

  @Autowired Isola isola;

  @Test
  void serviceCountsWordsInTheSandboxOfTheTest(Sandbox sandbox, @Autowired WordCounter counter) {
    sandbox.files().write("words.txt", "one two three");
    assertThat(counter.count(sandbox.id(), "words.txt")).isEqualTo(3);
  }

  @Test
  void clientOfTheTestIsThatOfTheContext(Isola client, Sandbox sandbox) {
    assertThat(client).isSameAs(isola);
    assertThat(client.list(SandboxFilter.ALL.tag("test", "SandboxedSpringTest")))
        .extracting(info -> info.id())
        .containsExactly(sandbox.id());
  }

  @Nested
  class Inner {
    @Test
    void hasTheSameClient(Isola client) {
      assertThat(client).isSameAs(isola);
    }
  }
}
