package dev.isola.link;

import dev.isola.spi.Secret;
import java.security.MessageDigest;
import java.security.SecureRandom;

/** The handshake with a peer, in the role of the agent. */
final class PeerHandshake {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Secret secret;
  private final byte[] agentNonce = new byte[Wire.NONCE_SIZE];

  PeerHandshake(Secret secret) {
    this.secret = secret;
    RANDOM.nextBytes(agentNonce);
  }

  byte[] challenge() {
    return new WireFieldsBuilder()
        .add(FieldTag.MAGIC, Wire.MAGIC_TEXT)
        .add(FieldTag.VERSION_MIN, Wire.VERSION)
        .add(FieldTag.VERSION_MAX, Wire.VERSION)
        .add(FieldTag.NONCE, agentNonce)
        .frame(Wire.CHALLENGE, 0);
  }

  /**
   * Checks the HELLO of the peer.
   *
   * @param agent what the agent told about itself
   * @return the WELCOME
   * @throws ProtocolViolation if the peer does not know the secret
   */
  byte[] welcome(byte[] hello, Handshake.Welcome agent) {
    WireFields fields = WireFields.parse(hello);
    byte[] serverNonce = fields.bytes(FieldTag.NONCE);
    byte[] expected = Handshake.proof(secret, Wire.SERVER_TEXT, agentNonce, serverNonce);
    if (fields.number(FieldTag.VERSION) != Wire.VERSION
        || serverNonce.length != Wire.NONCE_SIZE
        || !MessageDigest.isEqual(expected, fields.bytes(FieldTag.PROOF))) {
      throw new ProtocolViolation("the peer failed the handshake");
    }
    return new WireFieldsBuilder()
        .add(FieldTag.PROOF, Handshake.proof(secret, Wire.MAGIC_TEXT, serverNonce, agentNonce))
        .add(FieldTag.VERSION, Wire.VERSION)
        .add(FieldTag.BUILD, agent.build())
        .add(FieldTag.SANDBOX, agent.sandbox())
        .add(FieldTag.PID, agent.pid())
        .add(FieldTag.WINDOW, agent.window())
        .add(FieldTag.FEATURE, agent.features())
        .frame(Wire.WELCOME, 0);
  }
}
