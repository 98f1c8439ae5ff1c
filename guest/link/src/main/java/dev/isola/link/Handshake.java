package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.Secret;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The first three frames, in which each end proves that it knows the secret. Runs on the reading
 * thread.
 */
final class Handshake {
  /** Number of bytes that identify a CHALLENGE: frame header, field header, magic. */
  static final int CHALLENGE_START = Wire.HEADER + 5 + Wire.MAGIC_TEXT.length();

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int CHALLENGE_MAX = 4096;
  private static final int LEFTOVER_MAX = 4 * 1024 * 1024;
  private static final int CHALLENGES_MAX = 8;

  /**
   * Description of the agent, from WELCOME.
   *
   * @param window what may be sent on a new stream before the first CREDIT
   */
  record Welcome(String build, String sandbox, long pid, int window, List<String> features) {}

  private final FrameReader reader;
  private final AgentChannel channel;
  private final Secret secret;
  private byte[] agentNonce = {};
  private byte[] serverNonce = {};

  Handshake(FrameReader reader, AgentChannel channel, Secret secret) {
    this.reader = reader;
    this.channel = channel;
    this.secret = secret;
  }

  /**
   * Performs the handshake. The caller closes the channel to abort it.
   *
   * @throws ProtocolViolation when the agent fails to authenticate or sends any other frame
   */
  Welcome perform() throws IOException {
    if (!channel.isConnectionOriented()) {
      reader.skipToChallenge(LEFTOVER_MAX);
    }
    Frame frame = reader.next();
    if (!isChallenge(frame)) {
      throw new ProtocolViolation("the agent did not start with a CHALLENGE");
    }
    frame = newestChallenge(frame);
    answer(frame);
    for (int challenges = 1; challenges < CHALLENGES_MAX; challenges++) {
      frame = reader.next();
      if (frame.type() == Wire.WELCOME && frame.stream() == 0) {
        return welcome(WireFields.parse(frame.payload()));
      }
      if (channel.isConnectionOriented() || !isChallenge(frame)) {
        break;
      }
      // The agent repeats its CHALLENGE every second until HELLO arrives; only a new nonce needs
      // another HELLO.
      if (!Arrays.equals(WireFields.parse(frame.payload()).bytes(FieldTag.NONCE), agentNonce)) {
        answer(frame);
      }
    }
    throw new ProtocolViolation("the agent did not answer HELLO with a WELCOME");
  }

  static boolean startsChallenge(byte[] bytes, int at) {
    int length = Wire.getInt(bytes, at);
    if (length <= 0
        || length > CHALLENGE_MAX
        || bytes[at + 4] != Wire.CHALLENGE
        || Wire.getInt(bytes, at + 5) != 0
        || bytes[at + Wire.HEADER] != FieldTag.MAGIC
        || Wire.getInt(bytes, at + Wire.HEADER + 1) != Wire.MAGIC_TEXT.length()) {
      return false;
    }
    byte[] magic = Wire.MAGIC_TEXT.getBytes(UTF_8);
    int from = at + Wire.HEADER + 5;
    return Arrays.equals(bytes, from, from + magic.length, magic, 0, magic.length);
  }

  static byte[] proof(Secret secret, String role, byte[] first, byte[] second) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.reveal(), "HmacSHA256"));
      mac.update(role.getBytes(UTF_8));
      mac.update(first);
      return mac.doFinal(second);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HmacSHA256", e);
    }
  }

  private static boolean isChallenge(Frame frame) {
    return frame.type() == Wire.CHALLENGE && frame.stream() == 0;
  }

  /**
   * Returns the last of several challenges that have accumulated on a pipe; only that one is valid.
   */
  private Frame newestChallenge(Frame first) throws IOException {
    Frame newest = first;
    while (!channel.isConnectionOriented() && reader.hasBuffered()) {
      reader.skipToChallenge(LEFTOVER_MAX);
      newest = reader.next();
    }
    return newest;
  }

  private void answer(Frame challenge) throws IOException {
    WireFields fields = WireFields.parse(challenge.payload());
    if (!fields.text(FieldTag.MAGIC).equals(Wire.MAGIC_TEXT)) {
      throw new ProtocolViolation("the peer is not an Isola agent");
    }
    long min = fields.number(FieldTag.VERSION_MIN);
    long max = fields.number(FieldTag.VERSION_MAX);
    if (min > Wire.VERSION || max < Wire.VERSION) {
      throw new ProtocolViolation(
          "the agent supports protocol versions " + min + " to " + max + ", not " + Wire.VERSION);
    }
    agentNonce = fields.bytes(FieldTag.NONCE);
    if (agentNonce.length != Wire.NONCE_SIZE) {
      throw new ProtocolViolation("the agent's nonce has " + agentNonce.length + " bytes");
    }
    serverNonce = new byte[Wire.NONCE_SIZE];
    RANDOM.nextBytes(serverNonce);
    byte[] hello =
        new WireFieldsBuilder()
            .add(FieldTag.VERSION, Wire.VERSION)
            .add(FieldTag.NONCE, serverNonce)
            .add(FieldTag.PROOF, proof(secret, Wire.SERVER_TEXT, agentNonce, serverNonce))
            .frame(Wire.HELLO, 0);
    channel.write(ByteBuffer.wrap(hello));
  }

  private Welcome welcome(WireFields fields) {
    byte[] expected = proof(secret, Wire.MAGIC_TEXT, serverNonce, agentNonce);
    if (!MessageDigest.isEqual(expected, fields.bytes(FieldTag.PROOF))) {
      throw new ProtocolViolation("the agent does not know the sandbox's secret");
    }
    if (fields.number(FieldTag.VERSION, Wire.VERSION) != Wire.VERSION) {
      throw new ProtocolViolation(
          "the agent chose protocol version " + fields.number(FieldTag.VERSION));
    }
    return new Welcome(
        fields.optionalText(FieldTag.BUILD).orElse("unknown"),
        fields.optionalText(FieldTag.SANDBOX).orElse(""),
        fields.number(FieldTag.PID, 0),
        fields.has(FieldTag.WINDOW)
            ? fields.range(FieldTag.WINDOW, 1, Integer.MAX_VALUE)
            : Wire.FRAME_MAX,
        fields.texts(FieldTag.FEATURE));
  }
}
