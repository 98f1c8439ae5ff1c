package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxInfo;
import dev.isola.client.SandboxSpec;
import dev.isola.client.error.IsolaException;
import dev.isola.codec.json.Json;
import dev.isola.host.image.ImageStore;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.e2b.E2bProviderFactory;
import dev.isola.provider.microvmctl.MicrovmctlProviderFactory;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * O4 with real providers: {@code microvmctl}, whose command is missing, and {@code e2b}, whose
 * service is an Isola server with bubblewrap. (The same rules with fake providers are in
 * SelectionWithFakeProvidersTest.)
 */
@Timeout(180)
class MicrovmFallbackTest {
  private static final Path SMALL_ROOT = Path.of("../testing/e2b/small-root.sh").toAbsolutePath();

  @TempDir Path folder;

  @Test
  void localMicrovmFallsBackToE2bUnlessItIsStrict() throws Exception {
    Path image = folder.resolve("root");
    int made =
        new ProcessBuilder(SMALL_ROOT.toString(), image.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("small-root.log").toFile())
            .start()
            .waitFor();
    Assumptions.assumeTrue(made == 0, "NOT RUN: the tools of a template are not here");
    Path cloud = Files.createDirectory(folder.resolve("cloud"));
    new ImageStore(cloud).importFrom("base", image);
    try (LiveServer e2b = LiveServer.start(cloud, new BubblewrapProviderFactory())) {
      try (LiveServer server = server(e2b);
          Isola isola = server.client();
          Isola strictUser =
              Isola.connect(server.url, isola.keys().create("strict", "use", true).key())) {
        SandboxSpec named =
            SandboxSpec.builder().provider("local_microvm").ttl(Duration.ofMinutes(5)).build();
        try (Sandbox sandbox = isola.create(named)) {
          SandboxInfo info = sandbox.info();
          assertThat(info.provider()).isEqualTo("e2b");
          assertThat(sandbox.exec("echo here").stdout()).isEqualTo("here\n");
        }
        for (String field : List.of("strictNoFallback", "strict_no_fallback")) {
          assertRefused(isola, named.toBuilder().set(field, true).build());
        }
        assertRefused(strictUser, named);
        assertKeyIsAppliedByE2bsApi(server, isola);
        assertThat(isola.keys().list())
            .filteredOn(key -> key.name().equals("strict"))
            .singleElement()
            .satisfies(key -> assertThat(key.document()).containsEntry("strictNoFallback", true));
        isola.keys().update("strict", false);
        try (Sandbox sandbox = strictUser.create(named)) {
          assertThat(sandbox.info().provider()).isEqualTo("e2b");
        }
        isola.keys().update("strict", true);
        assertRefused(strictUser, named);
      }
      try (LiveServer strict = server(e2b, "local_microvm_fallback_to_remote=false");
          Isola isola = strict.client()) {
        assertRefused(isola, SandboxSpec.builder().provider("local_microvm").build());
      }
    }
  }

  private LiveServer server(LiveServer e2b, String... more) throws Exception {
    List<String> settings =
        new ArrayList<>(
            List.of(
                "floor=process",
                "providers.microvmctl.cli=/nowhere/microvmctl",
                "providers.e2b.api_key=" + LiveServer.KEY,
                "providers.e2b.api_url=" + e2b.url,
                "providers.e2b.sandbox_url=" + e2b.url));
    settings.addAll(List.of(more));
    return LiveServer.start(
        Files.createTempDirectory(folder, "server"),
        List.of(new MicrovmctlProviderFactory(), new E2bProviderFactory()),
        settings.toArray(new String[0]));
  }

  /** The provider of E2B's requests is the default one, here {@code microvmctl}. */
  private static void assertKeyIsAppliedByE2bsApi(LiveServer server, Isola isola) throws Exception {
    String strict = isola.keys().create("strict-e2b", "use", true).key();
    HttpResponse<String> refused = e2bCreate(server, strict);
    assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
    assertThat(refused.body()).contains("/nowhere/microvmctl cannot be started");
    HttpResponse<String> created = e2bCreate(server, LiveServer.KEY);
    assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
    String id = String.valueOf(Json.parseObject(created.body()).get("sandboxID"));
    try (Sandbox sandbox = isola.sandbox(id)) {
      assertThat(sandbox.info().provider()).isEqualTo("e2b");
      sandbox.destroy(true);
    }
  }

  private static HttpResponse<String> e2bCreate(LiveServer server, String key) throws Exception {
    return new HttpCalls(server.url, key).send("POST", "/sandboxes", "{\"templateID\":\"host\"}");
  }

  private static void assertRefused(Isola isola, SandboxSpec spec) {
    assertThatThrownBy(() -> isola.create(spec))
        .isInstanceOf(IsolaException.class)
        .hasMessageContaining("/nowhere/microvmctl cannot be started");
  }
}
