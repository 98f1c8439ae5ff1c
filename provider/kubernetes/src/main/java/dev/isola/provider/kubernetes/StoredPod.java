package dev.isola.provider.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.spi.Bytes;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * What is needed to create the pod of a sandbox again. The boot record has the environment of the
 * sandbox, so it is stored encrypted. The encryption also shows that it belongs to this sandbox and
 * that no client of the cluster has changed it.
 *
 * @param body the pod in JSON
 * @param agent the name of the config map in it
 * @param record the boot record of the agent
 */
record StoredPod(String body, String agent, Bytes record) {
  /** The purpose of the key. */
  static final String PURPOSE = "pod of a stopped sandbox";

  private static final String CIPHER = "AES/GCM/NoPadding";
  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;

  static StoredPod of(PodPlan plan, byte[] record) {
    return new StoredPod(Json.text(plan.body()), plan.agent().name(), Bytes.of(record));
  }

  /** Returns the pod with the agent of this server, which may be newer. */
  Map<String, Object> bodyWith(AgentConfigMap current) {
    return Json.parseObject(body.replace('"' + agent + '"', '"' + current.name() + '"'));
  }

  /** Returns the pod as if the cluster described it, without a uid and a state. */
  PodSnapshot described() {
    try {
      return PodSnapshot.of(JsonValue.parse(body.getBytes(UTF_8)));
    } catch (IOException e) {
      throw new IllegalStateException("it was written by Isola, and is authentic", e);
    }
  }

  /** Returns the encrypted text. */
  String seal(Secret key, InstanceId instance, SandboxId id) {
    byte[] nonce = new byte[NONCE];
    new SecureRandom().nextBytes(nonce);
    byte[] plain =
        Json.bytes(
            Map.of(
                "pod",
                body,
                "agent",
                agent,
                "record",
                Base64.getEncoder().encodeToString(record.toArray())));
    try {
      byte[] sealed = cipher(Cipher.ENCRYPT_MODE, key, nonce, instance, id).doFinal(plain);
      byte[] all = Arrays.copyOf(nonce, NONCE + sealed.length);
      System.arraycopy(sealed, 0, all, NONCE, sealed.length);
      return Base64.getEncoder().encodeToString(all);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has " + CIPHER, e);
    }
  }

  /**
   * Decrypts a text.
   *
   * @throws IOException if it is not one that this instance wrote for this sandbox
   */
  static StoredPod unseal(String text, Secret key, InstanceId instance, SandboxId id)
      throws IOException {
    try {
      byte[] all = Base64.getDecoder().decode(text);
      if (all.length < NONCE) {
        throw new IOException("it is too short");
      }
      byte[] nonce = Arrays.copyOf(all, NONCE);
      byte[] plain =
          cipher(Cipher.DECRYPT_MODE, key, nonce, instance, id)
              .doFinal(all, NONCE, all.length - NONCE);
      JsonValue stored = JsonValue.parse(plain);
      return new StoredPod(
          stored.text("pod"),
          stored.text("agent"),
          Bytes.of(Base64.getDecoder().decode(stored.text("record"))));
    } catch (IllegalArgumentException | GeneralSecurityException e) {
      throw new IOException("it is not authentic", e);
    }
  }

  private static Cipher cipher(
      int mode, Secret key, byte[] nonce, InstanceId instance, SandboxId id)
      throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance(CIPHER);
    cipher.init(
        mode, new SecretKeySpec(key.reveal(), "AES"), new GCMParameterSpec(TAG_BITS, nonce));
    cipher.updateAAD((instance + "\n" + id).getBytes(UTF_8));
    return cipher;
  }

  @Override
  public String toString() {
    return "stored pod, ***";
  }
}
