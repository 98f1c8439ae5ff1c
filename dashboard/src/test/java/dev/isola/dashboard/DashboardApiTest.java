package dev.isola.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The content security policy of the page. The routes are tested in a browser, in app. */
class DashboardApiTest {
  private static String policy(String host) {
    return new Page("build").policy(host);
  }

  @Test
  void policyAllowsNothingInlineAndNoOtherHost() {
    String policy = policy("localhost:7777");
    assertThat(policy)
        .startsWith("default-src 'none'; script-src localhost:7777/ui/ 'sha256-")
        .contains("; style-src localhost:7777/ui/;")
        .contains("; connect-src 'self';")
        .endsWith("frame-ancestors 'none'")
        .doesNotContain("unsafe", " *;", "https:", "http:");
  }

  @Test
  void previewsMayBeFramed() {
    assertThat(policy("localhost:7777")).contains("frame-src 'self' blob: *.localhost:7777;");
    assertThat(policy("isola.example")).contains("frame-src 'self' blob: *.isola.example;");
  }

  @Test
  void importMapOfThePageIsAllowedByItsHash() {
    String page = new String(new Page("build").content(), StandardCharsets.UTF_8);
    assertThat(page).contains("/ui/build/main.js").doesNotContain("{build}", "<style", "onload=");
    assertThat(page.split("<script", -1)).hasSize(3);
    assertThat(policy("localhost")).isNotEqualTo(new Page("other").policy("localhost"));
  }
}
