package dev.isola.compat.backend;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.isola.link.AgentConnector;
import dev.isola.link.AgentSandbox;
import dev.isola.link.BootRecord;
import dev.isola.link.StreamAgentChannel;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.Gone;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.NetworkMode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The backend protocol of a server, with real sandboxes. */
@Timeout(60)
class BackendApiTest {
  private static final String ID = "isola0123456789";
  private static final String CREATE =
      "{\"instance\": \"peer1\", \"sandbox\": \"box\", \"spec\": {\"env\": {\"A\": \"b\"}}}";

  @TempDir Path folder;
  private TestServer server;
  private final Secret secret = BootRecord.newSecret();

  @BeforeEach
  void start() {
    server =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            new SubprocessProviderFactory(),
            context -> HttpServerOptions.NONE,
            Map.of(),
            (context, keys, stored) -> List.of(new BackendApi(context, "subprocess")));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private TestClient.Response create(String id) throws IOException {
    return create(server.use, id, CREATE);
  }

  private TestClient.Response create(String key, String id, String body) throws IOException {
    return server
        .client(key)
        .send(
            "PUT",
            "/backend/v1/sandboxes/" + id,
            Map.of("Content-Type", "application/json"),
            body.getBytes(UTF_8));
  }

  private TestClient.OpenResponse channel(String key, String id, String encoded)
      throws IOException {
    return server
        .client(key)
        .open(
            "GET",
            "/backend/v1/sandboxes/" + id + "/channel",
            Map.of(
                "Connection",
                "Upgrade",
                "Upgrade",
                "isola-channel",
                "Isola-Channel-Secret",
                encoded),
            new byte[0]);
  }

  /** Only the names that peers chose lead to a sandbox. */
  @ParameterizedTest
  @ValueSource(strings = {"%s", "the-admins", "%s-isola", "%%36%s", "%.10s"})
  void sandboxOfAnotherClientHasNoSpelling(String spelling) throws IOException {
    String id = server.client().post("/api/v1/sandboxes", "{\"name\": \"the-admins\"}").field("id");
    String path = "/backend/v1/sandboxes/" + String.format(Locale.ROOT, spelling, id);
    for (String key : List.of(server.use, server.admin)) {
      assertThat(server.client(key).get(path).status()).isEqualTo(404);
      assertThat(server.client(key).delete(path).status()).isIn(204, 404);
    }
    assertThat(server.client().get("/api/v1/sandboxes/" + id).field("state")).isEqualTo("running");
  }

  @Test
  void networkModesThatTheOperatorDoesNotAllowAreNotOffered() throws IOException {
    for (String allowed : List.of("none,filtered", "none,filtered,bridge")) {
      try (TestServer local =
          new TestServer(
              folder.resolve(allowed),
              Duration.ofSeconds(30),
              new BubblewrapProviderFactory(),
              context -> HttpServerOptions.NONE,
              Map.of("allow_networks", allowed),
              (context, keys, stored) -> List.of(new BackendApi(context, "bubblewrap")))) {
        local.health.awaitFirstProbes();
        Set<NetworkMode> modes =
            local.health.current().stream()
                .flatMap(one -> one.info().stream())
                .flatMap(info -> info.support().networkModes().stream())
                .collect(Collectors.toSet());
        assumeThat(modes).contains(NetworkMode.BRIDGE);
        assertThat(local.client().get("/backend/v1/info?provider=bubblewrap").json())
            .containsEntry(
                "networkModes",
                allowed.endsWith("bridge") ? List.of("bridge", "none") : List.of("none"));
      }
    }
  }

  private AgentSandbox peer(String id) {
    AgentConnector connector =
        timeout -> {
          TestClient.OpenResponse open =
              channel(server.use, id, Base64.getEncoder().encodeToString(secret.reveal()));
          assertThat(open.status()).isEqualTo(101);
          return new StreamAgentChannel(
              open.body(),
              open.socket().getOutputStream(),
              () -> {
                try {
                  open.close();
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
        };
    return AgentSandbox.builder(new SandboxId("box"), connector, secret)
        .capabilities(Set.of(Attaching.class, Terminals.class))
        .build();
  }

  @Test
  void infoDescribesTheProvider() throws IOException {
    Map<String, Object> info = server.client(server.read).get("/backend/v1/info").json();
    assertThat(info)
        .containsEntry("protocol", 1)
        .containsEntry("level", "channel")
        .containsEntry("channel", "serve")
        .containsEntry("provider", "subprocess")
        .containsEntry("isolation", "process")
        .containsEntry("health", Map.of("status", "healthy"));
    assertThat(info.get("capabilities"))
        .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.LIST)
        .contains("attaching", "terminals")
        .doesNotContain("memory-forking", "volumes");
    assertThat(server.client().get("/backend/v1/info?provider=none").status()).isEqualTo(404);
  }

  @Test
  void sandboxIsCreatedOnceAndUsedThroughTheChannel() throws IOException {
    assertThat(create(ID).status()).isEqualTo(201);
    TestClient.Response again = create(ID);
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.json())
        .containsEntry("id", ID)
        .containsEntry("instance", "peer1")
        .containsEntry("sandbox", "box")
        .containsEntry("state", "running");
    try (AgentSandbox peer = peer(ID)) {
      assertThat(peer.run(Command.shell("echo $A")).stdout().text()).isEqualTo("b\n");
      peer.files().writeText("file", "content", UTF_8);
      assertThat(peer.files().readText("file", UTF_8, 100)).isEqualTo("content");
      assertThat(server.client().delete("/backend/v1/sandboxes/" + ID).status()).isEqualTo(204);
      assertThat(server.client().delete("/backend/v1/sandboxes/" + ID).status()).isEqualTo(204);
      assertThatThrownBy(() -> peer.run(Command.shell("true"))).isInstanceOf(Gone.class);
    }
    assertThat(create(ID).status()).as("the id is free again").isEqualTo(201);
  }

  @Test
  void inventoryHasTheSandboxesOfOnePeer() throws IOException {
    create(ID);
    create(server.use, "isolaother", CREATE.replace("peer1", "peer2"));
    server.client().post("/api/v1/sandboxes", "{}");
    List<Map<?, ?>> found =
        server.client(server.read).get("/backend/v1/sandboxes?instance=peer1").list("sandboxes");
    assertThat(found).hasSize(1);
    assertThat(found.getFirst().get("id")).isEqualTo(ID);
    assertThat(server.client().get("/backend/v1/sandboxes").status()).isEqualTo(400);
  }

  @Test
  void lesserCredentialsGetNothing() throws IOException {
    create(ID);
    String path = "/backend/v1/sandboxes/" + ID;
    String encoded = Base64.getEncoder().encodeToString(secret.reveal());
    for (String key : List.of("", "isk_wrong", token())) {
      int expected = key.isEmpty() || key.equals("isk_wrong") ? 401 : 403;
      assertThat(server.client(key).get("/backend/v1/info").status()).isEqualTo(expected);
      assertThat(server.client(key).get(path).status()).isEqualTo(expected);
      assertThat(server.client(key).delete(path).status()).isEqualTo(expected);
      assertThat(create(key, "isolanew", CREATE).status()).isEqualTo(expected);
      try (TestClient.OpenResponse open = channel(key, ID, encoded)) {
        assertThat(open.status()).isEqualTo(expected);
      }
    }
    TestClient reader = server.client(server.read);
    assertThat(reader.get(path).status()).isEqualTo(200);
    assertThat(reader.delete(path).status()).isEqualTo(403);
    assertThat(create(server.read, "isolanew", CREATE).status()).isEqualTo(403);
    for (String action : List.of("/pause", "/resume", "/renew", "/fork-points")) {
      assertThat(reader.post(path + action, "{}").status()).as(action).isEqualTo(403);
    }
    try (TestClient.OpenResponse open = channel(server.read, ID, encoded)) {
      assertThat(open.status()).isEqualTo(403);
    }
    assertThat(reader.post(path + "/captures", "{}").status()).isEqualTo(403);
    assertThat(reader.put("/backend/v1/volumes/v?instance=peer1", new byte[0]).status())
        .isEqualTo(403);
    assertThat(reader.delete("/backend/v1/volumes/v?instance=peer1").status()).isEqualTo(403);
    assertThat(
            server
                .client(server.use)
                .send(
                    "POST",
                    "/backend/v1/fork-points?provider=subprocess",
                    Map.of("Content-Type", "application/x-tar"),
                    new byte[10])
                .status())
        .as("a runtime may trust the archives that it restores")
        .isEqualTo(403);
    assertThat(server.client().get("/backend/v1/sandboxes?instance=peer1").list("sandboxes"))
        .hasSize(1);
  }

  /** Returns a token of a sandbox, which is valid in that sandbox only. */
  private String token() throws IOException {
    String id = server.client().post("/api/v1/sandboxes", "{}").field("id");
    return server
        .client()
        .post("/api/v1/sandboxes/" + id + "/tokens", "{\"scope\": \"use\", \"ttlSeconds\": 600}")
        .field("token");
  }

  @Test
  void sandboxesOfOtherClientsAreNotFound() throws IOException {
    String own = server.client().post("/api/v1/sandboxes", "{\"name\": \"isolamine\"}").field("id");
    for (String id : List.of("isolamine", own)) {
      assertThat(server.client().get("/backend/v1/sandboxes/" + id).status()).isEqualTo(404);
      assertThat(server.client().delete("/backend/v1/sandboxes/" + id).status()).isEqualTo(204);
    }
    assertThat(create("isolamine").status()).isEqualTo(409);
    assertThat(server.client().get("/api/v1/sandboxes/" + own).field("state")).isEqualTo("running");
    create(ID);
    TestClient.Response other = create(server.use, ID, CREATE.replace("peer1", "peer2"));
    assertThat(other.status()).isEqualTo(409);
    assertThat(other.field("code")).isEqualTo("CONFLICT");
  }

  @Test
  void hostAccessNeedsAnAdministrator() throws IOException {
    String host = CREATE.replace("\"env\"", "\"network\": {\"mode\": \"host\"}, \"env\"");
    TestClient.Response refused = create(server.use, ID, host);
    assertThat(refused.status()).isIn(403, 501);
    assertThat(server.client(server.use).get("/backend/v1/info").text()).doesNotContain("\"host\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "{\"instance\": 1, \"sandbox\": \"box\", \"spec\": {}}",
        "{\"instance\": \"\", \"sandbox\": \"box\", \"spec\": {}}",
        "{\"instance\": \"peer1\", \"sandbox\": \"box\"}",
        "{\"instance\": \"peer1\", \"sandbox\": \"box\", \"spec\": []}",
        "{\"instance\": \"peer1\", \"sandbox\": \"box\", \"spec\": {\"nothing\": 1}}",
        "{\"instance\": \"peer1\", \"sandbox\": \"box\", \"spec\": {}, \"ttlMs\": -1}",
        "{\"instance\": \"peer1\", \"sandbox\": \"box\", \"spec\": {}, \"ttlMs\": 1e300}",
        "{\"instance\": \"peer1\", \"sandbox\": \"box\", \"spec\": {\"lingerSeconds\": \"x\"}}"
      })
  void invalidCreateIsRejected(String body) throws IOException {
    TestClient.Response response = create(server.use, ID, body);
    assertThat(response.status()).isEqualTo(400);
    assertThat(response.field("remedy")).isNotEmpty();
    assertThat(server.client().get("/backend/v1/sandboxes?instance=peer1").list("sandboxes"))
        .isEmpty();
  }

  @Test
  void createWithUnknownProviderOrForkPointIsRejected() throws IOException {
    String provider = CREATE.replace("\"spec\"", "\"provider\": \"none\", \"spec\"");
    assertThat(create(server.use, ID, provider).status()).isEqualTo(404);
    String fork = CREATE.replace("\"spec\"", "\"forkPoint\": \"none\", \"spec\"");
    assertThat(create(server.use, ID, fork).status()).isEqualTo(404);
  }

  @Test
  void channelNeedsUpgradeAndSecret() throws IOException {
    create(ID);
    String path = "/backend/v1/sandboxes/" + ID + "/channel";
    assertThat(server.client().get(path).status()).isEqualTo(400);
    String encoded = Base64.getEncoder().encodeToString(secret.reveal());
    TestClient.Response plain =
        server.client().send("GET", path, Map.of("Isola-Channel-Secret", encoded), new byte[0]);
    assertThat(plain.status()).isEqualTo(400);
    assertThat(plain.text()).doesNotContain(encoded);
    for (String wrong : List.of("", "x", "!!!!", "AAAA")) {
      try (TestClient.OpenResponse open = channel(server.use, ID, wrong)) {
        assertThat(open.status()).isEqualTo(400);
      }
    }
    try (TestClient.OpenResponse open = channel(server.use, "isolanone", encoded)) {
      assertThat(open.status()).isEqualTo(404);
    }
  }

  @Test
  void garbageInTheChannelEndsOnlyTheChannel() throws IOException {
    create(ID);
    String encoded = Base64.getEncoder().encodeToString(secret.reveal());
    try (TestClient.OpenResponse open = channel(server.use, ID, encoded)) {
      assertThat(open.status()).isEqualTo(101);
      open.socket().getOutputStream().write("GET / HTTP/1.1\r\n\r\n".repeat(100).getBytes(UTF_8));
      InputStream in = open.body();
      assertThat(in.readAllBytes().length).as("the challenge, then the end").isLessThan(1000);
    } catch (java.net.SocketException reset) {
      // The server closed the connection while bytes were on their way.
    }
    try (AgentSandbox peer = peer(ID)) {
      assertThat(peer.run(Command.shell("echo alive")).stdout().text()).isEqualTo("alive\n");
    }
  }

  @Test
  void renewPauseAndUsageAreChecked() throws IOException {
    create(ID);
    String path = "/backend/v1/sandboxes/" + ID;
    assertThat(server.client().post(path + "/renew", "{\"ttlMs\": 600000}").status())
        .isEqualTo(204);
    assertThat(server.client().post(path + "/renew", "{}").status()).isEqualTo(400);
    assertThat(server.client().post(path + "/pause", "{\"kind\": \"all\"}").status())
        .isEqualTo(400);
    assertThat(server.client().post(path + "/fork-points", "{\"kind\": \"memory\"}").status())
        .isEqualTo(501);
    assertThat(server.client().get("/backend/v1/fork-points/none/archive").status()).isEqualTo(404);
    assertThat(server.client().get("/backend/v1/captures/none").status()).isEqualTo(404);
    assertThat(server.client().get("/backend/v1/volumes").status()).isEqualTo(400);
    assertThat(
            server.client().put("/backend/v1/volumes/%2e%2e?instance=peer1", new byte[0]).status())
        .isEqualTo(400);
    assertThat(server.client(server.read).get(path + "/usage").json())
        .containsKeys("cpuMs", "memoryBytes", "uptimeMs");
    assertThat(server.client().delete("/backend/v1/fork-points/none").status()).isEqualTo(204);
  }
}
