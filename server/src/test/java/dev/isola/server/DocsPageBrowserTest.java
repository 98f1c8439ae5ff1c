package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.TemporaryFolder;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The API reference in a browser: it renders every operation and sends requests. */
class DocsPageBrowserTest {
  @TempDir Path folder;

  @Test
  void pageSendsARequestWithTheTypedKeyAndShowsTheResponseAsText() throws Exception {
    Path program =
        Browser.installed()
            .orElseGet(() -> Assumptions.abort("chromium is not installed (apt: chromium)"));
    try (TestServer testServer = new TestServer(folder);
        TemporaryFolder scratch = TemporaryFolder.create("isola-browser-");
        Browser browser = new Browser(program, scratch.path())) {
      String origin = "http://localhost:" + testServer.client().port();
      browser.open(origin + "/");
      browser.shows("API reference", "OpenAPI document");
      browser.open(origin + "/api/v1/docs#createSandbox");
      browser.shows("Creates a sandbox.", "TRY IT"); // the style shows headings in capitals
      assertThat(browser.evaluate("String(document.querySelectorAll('details').length)"))
          .isEqualTo(Integer.toString(testServer.routes.nativeRoutes().size()));

      browser.evaluate("document.querySelector('#createSandbox .send').click()");
      browser.shows("type an API key");
      browser.evaluate(
          "document.getElementById('key').value = '"
              + testServer.use
              + "'; document.querySelector('#createSandbox textarea').value ="
              + " JSON.stringify({tags: {mark: '<b id=injected>'}});"
              + " document.querySelector('#createSandbox .send').click()");
      browser.shows("<b id=injected>"); // only the response has it: the request is a field's value
      assertThat(browser.evaluate("String(document.getElementById('injected'))")).isEqualTo("null");
      assertThat(
              browser.evaluate(
                  "String(localStorage.length + sessionStorage.length) + document.cookie"))
          .as("the key is not stored")
          .isEqualTo("0");
      assertThat(testServer.client().get("/api/v1/sandboxes").list("sandboxes")).hasSize(1);
    }
  }
}
