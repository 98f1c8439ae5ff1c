package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckNotRun;
import dev.isola.conformance.Expect;
import dev.isola.conformance.escape.ProbeProgram;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Checks the connections of a sandbox to other hosts in network mode {@code filtered}. Not run if
 * the provider does not declare the mode.
 */
public final class EgressChecks {
  private static final String PROGRAM = "./" + ProbeProgram.NAME + " egress ";
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /** The numbers of CAP_NET_ADMIN and CAP_NET_RAW. */
  private static final long NETWORK_CAPABILITIES = 1L << 12 | 1L << 13;

  private static final String CERTIFICATE =
      """
      -----BEGIN CERTIFICATE-----
      SXNvbGEgY29uZm9ybWFuY2U=
      -----END CERTIFICATE-----
      """;

  private static Sandbox create(CheckContext check) {
    if (!check.info().support().networkModes().contains(NetworkMode.FILTERED)) {
      throw new CheckNotRun("the provider has no network mode filtered");
    }
    ProbeProgram program =
        ProbeProgram.find()
            .orElseThrow(
                () -> new CheckNotRun("there is no " + ProbeProgram.NAME + " for this machine"));
    Sandbox sandbox = check.create(spec -> spec.network(Network.filtered(Egress.NONE)));
    sandbox
        .files()
        .write(
            ProbeProgram.NAME,
            FileContents.of(program.content()),
            WriteOptions.DEFAULT.withMode(0755));
    return sandbox;
  }

  private static ExecResult run(Sandbox sandbox, String script) {
    return sandbox.run(Command.shell(script).withTimeout(TIMEOUT));
  }

  private static String output(Sandbox sandbox, String script) {
    ExecResult result = run(sandbox, script);
    Expect.that(result.succeeded(), "'" + script + "' succeeds, but " + result);
    return result.stdout().text().strip();
  }

  private static String client(Sandbox sandbox, String words) {
    return output(sandbox, PROGRAM + words);
  }

  /** Sends a word to a host; an echo server returns it and adds another one. */
  private static void expectEcho(Sandbox sandbox, String host, int port) {
    Expect.equal(
        "wordend",
        output(sandbox, "printf word | " + PROGRAM + "talk " + host + " " + port),
        "the reply of " + host);
  }

  private static ExecResult talk(Sandbox sandbox, String host, int port) {
    return run(sandbox, "printf word | " + PROGRAM + "talk " + host + " " + port);
  }

  @Check("S3")
  public void namesHaveAddressesOfTheirOwn(CheckContext check) {
    Sandbox sandbox = create(check);
    String first = client(sandbox, "resolve a.example 1");
    Expect.that(first.matches("198\\.18\\.\\d+\\.\\d+"), "an address of the block, not " + first);
    String second = client(sandbox, "resolve b.example 1");
    Expect.that(!first.equals(second), "another name has another address than " + first);
    Expect.equal(first, client(sandbox, "resolve A.Example 1"), "the same name in other case");
    Expect.equal("code 0", client(sandbox, "resolve a.example 28"), "an address of IPv6");
    Expect.equal("code 0", client(sandbox, "resolve a.example 65"), "a service binding");
    Expect.equal("127.0.0.1", client(sandbox, "resolve localhost 1"), "localhost");
    Expect.equal("code 3", client(sandbox, "resolve 169.254.169.254 1"), "an address as a name");
  }

  @Check("S3")
  public void connectionArrivesWithNameAndPort(CheckContext check) {
    Sandbox sandbox = create(check);
    try (EgressServer server = EgressServer.open(sandbox)) {
      check.note(server.relay().servesEveryPort() ? "every port" : "named ports only");
      expectEcho(sandbox, "db.example", 5432);
      expectEcho(sandbox, "Web.Example", 443);
      Expect.equal(
          List.of("db.example:5432", "web.example:443"), server.destinations(), "the destinations");
    }
  }

  @Check("S3")
  public void literalAddressArrivesAsAnAddress(CheckContext check) {
    Sandbox sandbox = create(check);
    try (EgressServer server = EgressServer.open(sandbox)) {
      ExecResult result = talk(sandbox, "192.0.2.7", 443);
      ExecResult metadata = talk(sandbox, "169.254.169.254", 443);
      if (result.succeeded() || metadata.succeeded() || server.relay().servesEveryPort()) {
        Expect.equal(
            List.of("192.0.2.7:443", "169.254.169.254:443"),
            server.destinations(),
            "the destinations");
      }
    }
  }

  @Check("S3")
  public void nothingIsReachedWithoutARelay(CheckContext check) {
    Sandbox sandbox = create(check);
    Expect.that(!talk(sandbox, "a.example", 443).succeeded(), "no connection before a relay");
    EgressServer server = EgressServer.open(sandbox);
    expectEcho(sandbox, "a.example", 443);
    server.close();
    Expect.that(!talk(sandbox, "a.example", 443).succeeded(), "no connection after the relay");
    Expect.equal(List.of("a.example:443"), server.destinations(), "the destinations");
  }

  @Check("S3")
  public void datagramsAreRefused(CheckContext check) {
    Sandbox sandbox = create(check);
    try (EgressServer server = EgressServer.open(sandbox)) {
      for (String host : List.of("a.example", "192.0.2.7")) {
        ExecResult result = run(sandbox, PROGRAM + "datagram " + host + " 443");
        Expect.that(!result.succeeded(), "no datagram is answered by " + host + ": " + result);
      }
      Expect.equal(List.of(), server.destinations(), "the destinations");
    }
  }

  @Check("S3")
  public void otherNameServersAreNotReached(CheckContext check) {
    Sandbox sandbox = create(check);
    ExecResult asked = run(sandbox, PROGRAM + "resolve a.example 1 192.0.2.53");
    if (asked.succeeded()) {
      Expect.equal(
          client(sandbox, "resolve a.example 1"),
          asked.stdout().text().strip(),
          "the answer of another server");
    }
  }

  @Check("S3")
  public void rootCannotChangeTheNetwork(CheckContext check) {
    Sandbox sandbox = create(check);
    Command read = Command.shell("grep ^Cap /proc/self/status");
    boolean users = check.info().support().has(SpecFeature.USERS);
    ExecResult result = sandbox.run(users ? read.withUser("0") : read);
    List<String> sets = result.stdout().text().lines().toList();
    Expect.that(sets.size() >= 4, "the sets of capabilities, not " + result);
    for (String set : sets) {
      long bits = Long.parseUnsignedLong(set.substring(set.indexOf('\t') + 1).strip(), 16);
      Expect.equal(0L, bits & NETWORK_CAPABILITIES, "the capabilities over the network in " + set);
    }
  }

  @Check("S3")
  public void connectionIsResetUnlessItsOutputEnded(CheckContext check) {
    Sandbox sandbox = create(check);
    try (EgressServer _ = EgressServer.open(sandbox)) {
      ExecResult result = run(sandbox, PROGRAM + "talk a.example 9999 < /dev/null");
      Expect.contains(result.stdout().text(), "ECONNRESET", "what the client sees");
      expectEcho(sandbox, "a.example", 443);
    }
  }

  @Check("S3")
  public void anotherRelayReplacesTheFirst(CheckContext check) {
    Sandbox sandbox = create(check);
    try (EgressServer first = EgressServer.open(sandbox);
        EgressServer second = EgressServer.open(sandbox)) {
      expectEcho(sandbox, "a.example", 443);
      Expect.equal(List.of(), first.destinations(), "the destinations at the first relay");
      Expect.equal(List.of("a.example:443"), second.destinations(), "those at the second");
    }
  }

  @Check("S3")
  public void largeTransfersAreIntact(CheckContext check) {
    Sandbox sandbox = create(check);
    try (EgressServer _ = EgressServer.open(sandbox)) {
      output(sandbox, "head -c 8000000 /dev/urandom > sent");
      output(sandbox, PROGRAM + "talk a.example 443 < sent > received");
      output(sandbox, "printf end >> sent");
      Expect.equal(
          output(sandbox, "cksum < sent"), output(sandbox, "cksum < received"), "what came back");
    }
  }

  @Check("S3")
  public void thousandsOfNamesAreResolved(CheckContext check) {
    Sandbox sandbox = create(check);
    Expect.equal("1000", client(sandbox, "names 5000"), "names with an address of their own");
    try (EgressServer server = EgressServer.open(sandbox)) {
      expectEcho(sandbox, "host-19999.example", 443);
      Expect.equal(List.of("host-19999.example:443"), server.destinations(), "the destinations");
    }
  }

  @Check("S3")
  public void manyConnectionsAreServedAtOnce(CheckContext check) {
    Sandbox sandbox = create(check);
    try (EgressServer server = EgressServer.open(sandbox)) {
      Expect.equal("200", client(sandbox, "burst a.example 443 200"), "connections served");
      int served = Integer.parseInt(client(sandbox, "burst b.example 443 700"));
      Expect.that(served >= 200 && served < 700, "the number is limited, but " + served);
      Expect.equal("alive", output(sandbox, "echo alive"), "a command afterwards");
      expectEcho(sandbox, "c.example", 443);
      Expect.that(server.destinations().contains("c.example:443"), "the last arrived");
    }
  }

  @Check("S3")
  public void anotherProcessTakesTheConnections(CheckContext check) {
    Sandbox sandbox = create(check);
    EgressServer before = EgressServer.open(sandbox);
    expectEcho(sandbox, "a.example", 443);
    before.close(); // as a server that ends; one that remains would compete for the channel
    Sandbox attached = check.anotherProcess().attach(sandbox.id()).orElseThrow();
    try (EgressServer after = EgressServer.open(attached)) {
      expectEcho(attached, "b.example", 443);
      Expect.equal(List.of("b.example:443"), after.destinations(), "those at the other process");
      Expect.equal(List.of("a.example:443"), before.destinations(), "those at the first");
    }
  }

  @Check(value = "S3", needs = Pausing.class)
  public void relayOutlivesAPause(CheckContext check) {
    Sandbox sandbox = create(check);
    Pausing pausing = sandbox.as(Pausing.class).orElseThrow();
    try (EgressServer _ = EgressServer.open(sandbox)) {
      for (PauseKind kind : pausing.kinds()) {
        pausing.pause(kind);
        pausing.resume();
        Expect.eventually(
            Duration.ofSeconds(10),
            "connections are passed on after a pause: " + kind,
            () -> talk(sandbox, "a.example", 443).stdout().text().equals("wordend"));
      }
    }
  }

  @Check(value = "S3", needs = Forking.class)
  public void forkHasARelayOfItsOwn(CheckContext check) {
    Sandbox source = create(check);
    try (ForkPoint forkPoint = source.as(Forking.class).orElseThrow().createForkPoint()) {
      expectSeparateRelays(check, source, forkPoint);
    }
  }

  @Check(value = "S3", needs = MemoryForking.class)
  public void memoryForkHasARelayOfItsOwn(CheckContext check) {
    Sandbox source = create(check);
    try (ForkPoint forkPoint = MemoryForks.createForkPoint(source)) {
      expectSeparateRelays(check, source, forkPoint);
    }
  }

  private static void expectSeparateRelays(
      CheckContext check, Sandbox source, ForkPoint forkPoint) {
    Sandbox fork = forkPoint.create(check.spec().network(Network.filtered(Egress.NONE)).build());
    try (EgressServer first = EgressServer.open(source)) {
      Expect.that(!talk(fork, "a.example", 443).succeeded(), "no connection before a relay");
      try (EgressServer second = EgressServer.open(fork)) {
        expectEcho(fork, "fork.example", 443);
        expectEcho(source, "source.example", 443);
        Expect.equal(List.of("fork.example:443"), second.destinations(), "those of the fork");
      }
      Expect.equal(List.of("source.example:443"), first.destinations(), "those of the source");
    }
  }

  /** What is not read on the other side is not taken from the guest process without end. */
  @Check("S2")
  public void senderWaitsForTheServer(CheckContext check) throws Exception {
    Sandbox sandbox = create(check);
    String send =
        "(head -c 32000000 /dev/zero; touch sent) | "
            + PROGRAM
            + "talk "
            + BandwidthPeer.HELD
            + " "
            + BandwidthPeer.PORT;
    try (BandwidthPeer peer = BandwidthPeer.open(sandbox);
        Execution sender = sandbox.start(Command.shell(send).withTimeout(TIMEOUT))) {
      Expect.that(peer.awaitFirst(), "a part arrives");
      output(sandbox, "sleep 1");
      Expect.that(!sandbox.files().exists("sent"), "the rest stays with the sender");
      peer.release();
      Expect.that(sender.await(TIMEOUT).isPresent(), "the sender ends");
      Expect.equal(32_000_000L, peer.received(), "what arrives in the end");
      Expect.that(sandbox.files().exists("sent"), "all of it is sent");
    }
  }

  @Check("S2")
  public void bandwidthIsLimited(CheckContext check) throws Exception {
    Sandbox sandbox = create(check);
    String send =
        "head -c 1500000 /dev/zero | " + PROGRAM + "talk limited.example " + BandwidthPeer.PORT;
    try (BandwidthPeer peer = BandwidthPeer.open(sandbox)) {
      peer.limit(1_000_000);
      run(sandbox, send);
      Optional<Long> limited = peer.took();
      if (limited.isEmpty()) {
        throw check.notRun("the server carries all connections of this provider, at its own rate");
      }
      Expect.equal(1_500_000L, peer.received(), "what arrives with a limit");
      Expect.that(
          limited.get() > 1_200_000_000L,
          "1.5 MB at 1 MB in a second take longer than " + limited.get() + " ns");
      peer.limit(0);
      run(sandbox, send);
      Expect.equal(1_500_000L, peer.received(), "what arrives without a limit");
      Expect.that(
          peer.took().orElse(Long.MAX_VALUE) < limited.get(), "the same without a limit is faster");
    }
  }

  @Check("S3")
  public void programsAreToldToTrustTheCertificate(CheckContext check) {
    Sandbox sandbox = create(check);
    String show = "echo \"$SSL_CERT_FILE $NODE_EXTRA_CA_CERTS\"";
    Expect.equal("", output(sandbox, show), "the variables without a certificate");
    try (EgressServer _ = EgressServer.open(sandbox, CERTIFICATE)) {
      String[] files = output(sandbox, show).split(" ", -1);
      Expect.equal(2, files.length, "the number of variables");
      Expect.contains(output(sandbox, "cat " + files[0]), CERTIFICATE.strip(), "the bundle");
      Expect.equal(CERTIFICATE.strip(), output(sandbox, "cat " + files[1]), "the certificate");
      ExecResult own =
          sandbox.run(Command.shell("echo $SSL_CERT_FILE").withEnv("SSL_CERT_FILE", "/own"));
      Expect.equal("/own", own.stdout().text().strip(), "a variable of the command");
    }
  }

  @Check("S3")
  public void onlyAFilteredSandboxHasEgress(CheckContext check) {
    create(check);
    Expect.that(check.sandbox().egress().isEmpty(), "no egress without the mode filtered");
  }
}
