package dev.isola.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.api.SandboxHome;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.limit.ClientAddresses;
import dev.isola.server.limit.ConnectionLimits;
import dev.isola.server.limit.RequestLimits;
import dev.isola.server.peer.FakePeers;
import dev.isola.server.peer.PeerRequest;
import dev.isola.server.peer.TestPeers;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * C20, C21: requests at a server that does not own a sandbox. The servers have ledgers and keys of
 * their own here, so nothing but what is passed on can make a request succeed.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class PeerForwardingTest {
  private static final Duration OWNER_TIMEOUT = Duration.ofMillis(600);

  /** Connections of one client, apart from other servers. */
  private static final int STRANGERS = 100;

  @TempDir static Path folder;

  private final FakePeers frontPeers = new FakePeers("front");
  private final FakePeers ownerPeers = new FakePeers("owner");
  private final List<RequestListener.CompletedRequest> frontLog = new CopyOnWriteArrayList<>();
  private final List<RequestListener.CompletedRequest> ownerLog = new CopyOnWriteArrayList<>();
  private TestServer owner;
  private TestServer front;
  private TestClient client;
  private String sandbox;
  private SandboxHome.At home;

  @BeforeAll
  void open() throws IOException {
    owner = server("owner", ownerPeers, ownerLog);
    sandbox = owner.client().post("/api/v1/sandboxes", "{}").field("id");
    home = FakePeers.at("owner", owner.server.port());
    frontPeers.record(home, true);
    front = server("front", frontPeers, frontLog);
    client = front.client(front.use);
  }

  private static TestServer server(
      String name, FakePeers peers, List<RequestListener.CompletedRequest> log) {
    TestServer server =
        new TestServer(
            folder.resolve(name),
            Duration.ofSeconds(30),
            new SubprocessProviderFactory(),
            context -> options(context, log),
            Map.of());
    server.context.start(
        new ServerContext.Components(
            server.engine,
            server.registry,
            server.health,
            Optional.of(TestPeers.open(peers, OWNER_TIMEOUT))));
    return server;
  }

  private static HttpServerOptions options(
      ServerContext context, List<RequestListener.CompletedRequest> log) {
    return new HttpServerOptions(
            Optional.empty(),
            RequestLimits.NONE,
            List.of(log::add),
            Optional::empty,
            () -> context.components().peers())
        .withConnections(new ConnectionLimits(400, 300, STRANGERS), ClientAddresses.DIRECT);
  }

  @AfterAll
  void close() throws IOException {
    owner.client().delete("/api/v1/sandboxes/" + sandbox + "?force=true");
    front.close();
    owner.close();
  }

  @BeforeEach
  void reset() {
    frontPeers.place(sandbox, home);
    ownerPeers.place(sandbox, new SandboxHome.Here());
    frontLog.clear();
    ownerLog.clear();
    front.warnings.clear();
    owner.warnings.clear();
  }

  private String path(String rest) {
    return "/api/v1/sandboxes/" + sandbox + rest;
  }

  private static String shell(String command) {
    return "{\"argv\":[\"/bin/sh\",\"-c\",\"" + command + "\"]}";
  }

  @Test
  void ownerRunsTheCommandOfAKeyThatItDoesNotKnow() throws IOException {
    assertThat(owner.client(front.use).post(path("/exec"), shell("echo hi")).status())
        .isEqualTo(401);
    TestClient.Response answer = client.post(path("/exec"), shell("echo hi"));
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    assertThat(answer.text()).contains("hi");
    assertThat(answer.headers().get("x-request-id")).doesNotContain("\n");
    assertThat(front.warnings).isEmpty();
  }

  @Test
  void theOwnerReportsARequestOnceWithTheClientsIdAndAddress() throws IOException {
    TestClient.Response answer = client.post(path("/exec"), shell("true"));
    String id = String.valueOf(answer.headers().get("x-request-id"));
    // Requests of an earlier test may be reported late.
    await().until(() -> ownerLog.stream().anyMatch(one -> one.requestId().equals(id)));
    assertThat(frontLog).noneMatch(one -> one.requestId().equals(id));
    assertThat(ownerLog)
        .filteredOn(one -> one.requestId().equals(id))
        .singleElement()
        .extracting("key", "remote")
        .containsExactly("use", "127.0.0.1");
  }

  @Test
  void errorsAreThoseOfTheOwner() throws IOException {
    TestClient.Response here = owner.client().get(path("/files/stat?path=absent"));
    TestClient.Response there = client.get(path("/files/stat?path=absent"));
    assertThat(there.status()).isEqualTo(here.status()).isEqualTo(404);
    assertThat(there.type()).isEqualTo(here.type());
    assertThat(there.field("detail")).isEqualTo(here.field("detail"));
    assertThat(there.field("requestId")).isEqualTo(there.headers().get("x-request-id"));
    assertThat(client.post(path("/exec"), "{\"argv\":7}").status()).isEqualTo(400);
    assertThat(client.post(path("/exec"), "no json").status()).isEqualTo(400);
  }

  @Test
  void lesserKeysGetWhatTheyGetFromTheOwner() throws IOException {
    List<TestClient.Response> responses = new ArrayList<>();
    responses.add(front.client(front.read).post(path("/exec"), shell("true")));
    responses.add(front.client("").post(path("/exec"), shell("true")));
    responses.add(front.client("isk_unknown").get(path("/files?path=.")));
    TestClient holder = front.client(useToken(sandbox));
    responses.add(holder.post(path("/exec"), shell("true")));
    responses.add(holder.post(path("/snapshots"), "{}"));
    responses.add(front.client(useToken("another")).post(path("/exec"), shell("true")));
    assertThat(responses)
        .extracting(TestClient.Response::status)
        .containsExactly(403, 401, 401, 200, 403, 403);
    List<String> ids =
        responses.stream().map(one -> one.headers().get("x-request-id")).distinct().toList();
    assertThat(ids).hasSize(6);
    // A request is logged after its response, so that those of an earlier test may follow.
    await().until(() -> ownerLog.stream().anyMatch(one -> one.requestId().equals(ids.get(3))));
    assertThat(ownerLog)
        .extracting(RequestListener.CompletedRequest::requestId)
        .filteredOn(ids::contains)
        .containsExactly(ids.get(3)); // the other requests did not reach the owner
  }

  private String useToken(String id) {
    Instant end = Instant.now().plusSeconds(60);
    return front
        .keys
        .tokens()
        .sign(new SandboxToken(SandboxToken.Kind.USE, new SandboxId(id), 0, end))
        .reveal();
  }

  @Test
  void largeFilesAreStreamedInBothDirections() throws IOException {
    byte[] content = new byte[12 << 20];
    new Random(1).nextBytes(content);
    String file = path("/files/content?path=large.bin");
    assertThat(client.put(file, content).status()).isEqualTo(200);
    assertThat(client.get(file).body()).isEqualTo(content);
    TestClient.Response part = client.send("GET", file, Map.of("Range", "bytes=5-14"), new byte[0]);
    assertThat(part.status()).isEqualTo(206);
    assertThat(part.body()).isEqualTo(Arrays.copyOfRange(content, 5, 15));
    byte[] chunked = "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n".getBytes(ISO_8859_1);
    String head =
        "PUT "
            + file
            + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer "
            + client.key()
            + "\r\nTransfer-Encoding: chunked\r\n\r\n";
    try (TestClient.OpenResponse open =
        client.raw((head + new String(chunked, ISO_8859_1)).getBytes(ISO_8859_1))) {
      assertThat(open.status()).isEqualTo(200);
    }
    assertThat(client.get(file).text()).isEqualTo("hello world");
  }

  /** The owner counts the connections of other servers as those of clients with a key. */
  @Test
  void connectionsWithoutAKeyDoNotEndWhatWasPassedOn() throws IOException {
    String execution =
        client.post(path("/executions"), "{\"argv\":[\"cat\"],\"stdin\":true}").field("id");
    List<Socket> strangers = new ArrayList<>();
    try (TestClient.OpenResponse open =
        client.open("GET", path("/executions/" + execution + "/output"), Map.of(), new byte[0])) {
      assertThat(open.status()).isEqualTo(200);
      for (int i = 0; i < 2 * STRANGERS; i++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), owner.server.port());
        strangers.add(socket);
        socket // the server waits for the body of a request that it refuses
            .getOutputStream()
            .write(
                "POST /api/v1/sandboxes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
                    .getBytes(ISO_8859_1));
      }
      TestClient.Response answer =
          client.send(
              "POST",
              path("/executions/" + execution + "/stdin?close=true"),
              Map.of("Content-Type", "application/octet-stream"),
              "typed".getBytes(UTF_8));
      assertThat(answer.status()).as(answer.text()).isEqualTo(204);
      assertThat(new String(open.body().readAllBytes(), UTF_8)).contains("exit");
    } finally {
      for (Socket socket : strangers) {
        socket.close();
      }
    }
  }

  @Test
  void outputIsStreamedAsItArrivesAndTheClientsDisconnectReachesTheOwner() throws Exception {
    String execution = client.post(path("/executions"), shell("echo one; sleep 600")).field("id");
    int before = owner.server.activeRequests();
    TestClient.OpenResponse open =
        client.open("GET", path("/executions/" + execution + "/output"), Map.of(), new byte[0]);
    try (open) {
      BufferedReader lines = new BufferedReader(new InputStreamReader(open.body(), UTF_8));
      String expected = Base64.getEncoder().encodeToString("one\n".getBytes(UTF_8));
      String seen = "";
      while (!seen.contains(expected) && !seen.contains("one")) {
        seen = lines.readLine();
      }
      assertThat(owner.server.activeRequests()).isGreaterThan(before);
    }
    await().until(() -> owner.server.activeRequests() <= before);
    await().until(() -> front.server.activeRequests() == 0);
    client.post(path("/executions/" + execution + "/signal"), "{\"signal\":\"KILL\"}");
  }

  @Test
  void aCommandEndsWhenTheClientOfTheFirstServerDisconnects() throws Exception {
    Path marker = folder.resolve("marker");
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), client.port());
    byte[] body = shell("touch " + marker + "; sleep 600").getBytes(UTF_8);
    socket
        .getOutputStream()
        .write(
            ("POST "
                    + path("/exec")
                    + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
                    + client.key()
                    + "\r\nContent-Type: application/json\r\nContent-Length: "
                    + body.length
                    + "\r\n\r\n")
                .getBytes(ISO_8859_1));
    socket.getOutputStream().write(body);
    await().until(() -> Files.exists(marker));
    socket.close();
    await().until(() -> owner.server.activeRequests() == 0);
  }

  @Test
  void terminalsWork() throws Exception {
    TestClient.Response started =
        client.post(
            path("/executions"),
            "{\"argv\":[\"/bin/sh\",\"-c\",\"stty -echo; echo ready; read a; echo got $a; exit"
                + " 7\"],\"terminal\":{\"rows\":24,\"cols\":80}}");
    assertThat(started.status()).as(started.text()).isEqualTo(201);
    String terminalPath = path("/executions/" + started.field("id") + "/terminal");
    try (TerminalClient terminal =
        TerminalClient.open(
            client.port(),
            terminalPath,
            Map.of(),
            List.of("isola.terminal.v1", "isola.bearer." + client.key()))) {
      assertThat(terminal.protocol()).isEqualTo("isola.terminal.v1");
      assertThat(terminal.text()).containsEntry("type", "attached");
      terminal.until("ready");
      terminal.type("hello\n");
      terminal.until("got hello");
      assertThat(terminal.text()).containsEntry("exitCode", 7);
      assertThat(terminal.closed()).isEqualTo(1000);
    }
    await().until(() -> owner.server.activeRequests() == 0);
  }

  @Test
  void connectionsBetweenServersAreReused() throws IOException {
    try (TestSite site = new TestSite()) {
      CountDownLatch connections = new CountDownLatch(2);
      site.handleWith(
          (head, in, out) -> {
            connections.countDown();
            while (true) {
              out.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".getBytes(ISO_8859_1));
              out.flush();
              StringBuilder next = new StringBuilder();
              while (!next.toString().endsWith("\r\n\r\n")) {
                next.append((char) in.read());
              }
              site.heads().add(next.toString());
            }
          });
      frontPeers.place(sandbox, FakePeers.at("site", site.port()));
      frontPeers.record(FakePeers.at("site", site.port()), true);
      for (int i = 0; i < 5; i++) {
        assertThat(client.get(path("/files?path=.")).text()).isEqualTo("{}");
      }
      assertThat(site.heads()).hasSize(5);
      assertThat(connections.getCount()).isEqualTo(1);
    }
  }

  @Test
  void theOwnerGetsNoCredentialOfTheClient() throws IOException {
    try (TestSite site = new TestSite()) {
      site.respondWith("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
      frontPeers.place(sandbox, FakePeers.at("site", site.port()));
      frontPeers.record(FakePeers.at("site", site.port()), true);
      Map<String, String> headers = new LinkedHashMap<>();
      headers.put("Cookie", "isola_session=secret; other=cookie");
      headers.put("X-Mine", "kept");
      assertThat(client.send("GET", path("/files?path=."), headers, new byte[0]).status())
          .isEqualTo(200);
      assertThat(site.lastHead())
          .contains("X-Mine: kept", "X-Isola-Peer: ", "GET " + path("/files?path=."))
          .doesNotContain(client.key(), "Authorization", "Cookie", "secret");
    }
  }

  @Test
  void aStatementOfAClientIsRejectedAndNeverPassedOn() throws IOException {
    for (TestServer server : List.of(front, owner)) {
      TestClient.Response forged =
          server
              .client(server.use)
              .send("GET", path("/files?path=."), Map.of("X-Isola-Peer", "forged.x"), new byte[0]);
      assertThat(forged.status()).isEqualTo(401);
      assertThat(forged.text()).contains("X-Isola-Peer");
    }
  }

  private PeerRequest statement(String to, Instant at, String method, String target) {
    return new PeerRequest(
        PeerRequest.Kind.REQUEST,
        "front",
        to,
        at,
        "nonce" + System.nanoTime(),
        method,
        target,
        "request",
        "127.0.0.1",
        false,
        Optional.of(new ApiKey("use", Scope.USE, "x", false, Instant.EPOCH, Optional.empty())));
  }

  private int presented(String header, String method, String target) throws IOException {
    return owner
        .client("")
        .send(method, target, Map.of("X-Isola-Peer", header), new byte[0])
        .status();
  }

  @Test
  void theOwnerAcceptsOnlyStatementsForItselfForThisRequestNowAndOnce() throws IOException {
    String target = path("/files?path=.");
    Instant now = Instant.now();
    String good = TestPeers.sign(frontPeers, statement("owner", now, "GET", target));
    assertThat(presented(good, "GET", target)).as("valid").isEqualTo(200);
    assertThat(presented(good, "GET", target)).as("repeated").isEqualTo(401);
    assertThat(
            presented(
                TestPeers.sign(frontPeers, statement("third", now, "GET", target)), "GET", target))
        .as("for another server")
        .isEqualTo(401);
    assertThat(
            presented(
                TestPeers.sign(frontPeers, statement("owner", now, "GET", target)),
                "DELETE",
                target))
        .as("another method")
        .isEqualTo(401);
    assertThat(
            presented(
                TestPeers.sign(frontPeers, statement("owner", now, "GET", target)),
                "GET",
                target + "/x"))
        .as("another target")
        .isEqualTo(401);
    for (int seconds : new int[] {-120, 120}) {
      Instant other = now.plusSeconds(seconds);
      assertThat(
              presented(
                  TestPeers.sign(frontPeers, statement("owner", other, "GET", target)),
                  "GET",
                  target))
          .as("issued in " + seconds)
          .isEqualTo(401);
    }
    FakePeers stranger = new FakePeers("front", Secret.of("another key"));
    assertThat(
            presented(
                TestPeers.sign(stranger, statement("owner", now, "GET", target)), "GET", target))
        .as("another key")
        .isEqualTo(401);
    String changed = TestPeers.sign(frontPeers, statement("owner", now, "GET", target));
    assertThat(presented("e" + changed, "GET", target)).as("changed").isEqualTo(401);
    assertThat(presented(changed.substring(0, 40), "GET", target)).as("cut").isEqualTo(401);
    assertThat(presented(".", "GET", target)).as("empty").isEqualTo(401);
    assertThat(presented("x".repeat(14_000), "GET", target)).as("long").isEqualTo(401);
  }

  @Test
  void theScopeOfTheStatedKeyIsCheckedAgain() throws IOException {
    String target = path("/stop");
    PeerRequest use = statement("owner", Instant.now(), "POST", target);
    PeerRequest read =
        new PeerRequest(
            use.kind(),
            use.from(),
            use.to(),
            use.issuedAt(),
            use.nonce(),
            use.method(),
            use.target(),
            use.requestId(),
            use.remote(),
            use.secure(),
            Optional.of(
                new ApiKey("read", Scope.READ, "x", false, Instant.EPOCH, Optional.empty())));
    assertThat(presented(TestPeers.sign(frontPeers, read), "POST", target)).isEqualTo(403);
  }

  @Test
  void aRequestIsPassedOnOnceAndFollowsASandboxThatMoved() throws IOException {
    FakePeers thirdPeers = new FakePeers("third");
    TestServer third = server("third", thirdPeers, new ArrayList<>());
    try {
      // The first server is late: it takes the third server for the owner, which is not.
      SandboxHome.At wrong = FakePeers.at("third", third.server.port());
      thirdPeers.place(sandbox, home);
      frontPeers.record(wrong, true);
      frontPeers.place(sandbox, wrong, wrong, home);
      assertThat(client.post(path("/exec"), shell("echo moved")).text()).contains("moved");

      byte[] content = new byte[1 << 20];
      new Random(2).nextBytes(content);
      String file = path("/files/content?path=moved.bin");
      frontPeers.place(sandbox, wrong, wrong, home);
      assertThat(client.put(file, content).status()).isEqualTo(200);
      assertThat(owner.client().get(file).body()).isEqualTo(content);

      // It stays wrong: the third server never passes the request on.
      frontPeers.place(sandbox, wrong);
      TestClient.Response lost = client.post(path("/exec"), shell("echo lost"));
      assertThat(lost.status()).isEqualTo(503);
      assertThat(lost.headers()).containsEntry("retry-after", "1");
    } finally {
      third.close();
    }
  }

  @Test
  void aRequestIsAnsweredHereOnceThisServerHasTakenOver() throws IOException {
    String mine = front.client().post("/api/v1/sandboxes", "{}").field("id");
    try {
      frontPeers.place(mine, gone(), gone(), new SandboxHome.Here());
      TestClient.Response answer =
          client.post("/api/v1/sandboxes/" + mine + "/exec", shell("echo here"));
      assertThat(answer.text()).contains("here");
    } finally {
      front.client().delete("/api/v1/sandboxes/" + mine + "?force=true");
    }
  }

  /** Nothing listens on port 1. */
  private static SandboxHome.At gone() {
    return FakePeers.at("gone", 1);
  }

  @Test
  void anUnreachableOwnerIsReportedWithTheTimeToRetry() throws IOException {
    frontPeers.place(sandbox, gone());
    TestClient.Response answer = client.post(path("/exec"), shell("true"));
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.field("code")).isEqualTo("PROVIDER_UNAVAILABLE");
    assertThat(answer.field("detail"))
        .isEqualTo("the server gone owns sandbox " + sandbox + " and cannot be reached");
    assertThat(answer.headers()).containsEntry("retry-after", "1");
    await().until(() -> frontLog.size() == 1);
    assertThat(front.warnings).isEmpty();
  }

  @Test
  void anOwnerThatLeavesWithoutAnAnswerMayHaveActed() throws IOException {
    try (TestSite site = new TestSite()) {
      site.handleWith((head, in, out) -> {});
      frontPeers.record(FakePeers.at("site", site.port()), true);
      frontPeers.place(sandbox, FakePeers.at("site", site.port()));
      TestClient.Response answer = client.post(path("/exec"), shell("true"));
      assertThat(answer.status()).isEqualTo(502);
      assertThat(answer.field("code")).isEqualTo("OUTCOME_UNKNOWN");
      assertThat(site.heads()).hasSize(1);

      // Reading can be repeated, here at the server that has taken over.
      SandboxHome.At leaving = FakePeers.at("site", site.port());
      frontPeers.place(sandbox, leaving, leaving, home);
      assertThat(client.get(path("/files?path=.")).status()).isEqualTo(200);
      assertThat(site.heads()).hasSize(2);
    }
  }

  @Test
  void aResponseThatBreaksOffIsIncompleteForTheClient() throws IOException {
    try (TestSite site = new TestSite()) {
      site.respondWith("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
      frontPeers.record(FakePeers.at("site", site.port()), true);
      frontPeers.place(sandbox, FakePeers.at("site", site.port()));
      try (TestClient.OpenResponse open =
          client.open("GET", path("/files/content?path=/x"), Map.of(), new byte[0])) {
        assertThat(open.status()).isEqualTo(200);
        assertThatThrownBy(() -> open.body().readAllBytes()).isInstanceOf(IOException.class);
      }
    }
  }

  @Test
  void requestsToAServerThatLostItsLeaseEnd() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    try (TestSite site = new TestSite()) {
      site.handleWith(
          (head, in, out) -> {
            frontPeers.record(FakePeers.at("frozen", site.port()), false);
            ended.await(60, TimeUnit.SECONDS);
          });
      frontPeers.record(FakePeers.at("frozen", site.port()), true);
      frontPeers.place(sandbox, FakePeers.at("frozen", site.port()));
      assertThat(client.post(path("/exec"), shell("true")).status()).isEqualTo(502);
    } finally {
      ended.countDown();
    }
  }

  @Test
  void aServerWithItsOwnLedgerIgnoresTheHeader() throws IOException {
    try (TestServer alone = new TestServer(folder.resolve("alone"))) {
      assertThat(
              alone
                  .client("")
                  .send(
                      "GET",
                      "/api/v1/sandboxes",
                      Map.of(
                          "X-Isola-Peer",
                          TestPeers.sign(
                              frontPeers,
                              statement("alone", Instant.now(), "GET", "/api/v1/sandboxes"))),
                      new byte[0])
                  .status())
          .isEqualTo(401);
      assertThat(
              alone
                  .client()
                  .send("GET", "/api/v1/sandboxes", Map.of("X-Isola-Peer", "x"), new byte[0])
                  .status())
          .isEqualTo(200);
    }
  }

  @Test
  void onlyServersConnectToPortsThroughTheOwner() throws IOException {
    String target = "/peer/v1/sandboxes/" + sandbox + "/ports/80";
    for (TestServer server : List.of(front, owner)) {
      for (String key : List.of("", server.use, server.admin)) {
        assertThat(server.client(key).get(target).status()).isEqualTo(401);
      }
    }
    // A statement about a request of a client opens no port.
    assertThat(
            presented(
                TestPeers.sign(frontPeers, statement("owner", Instant.now(), "GET", target)),
                "GET",
                target))
        .isEqualTo(401);
    assertThat(ownerLog).allMatch(one -> one.status() == 401);
  }
}
