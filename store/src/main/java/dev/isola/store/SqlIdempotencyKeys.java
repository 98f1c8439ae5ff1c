package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Duration;
import java.time.Instant;

/** Idempotency keys in the table {@code idempotency_key}. */
record SqlIdempotencyKeys(Database database, Duration keyRetention) implements IdempotencyKeys {

  @Override
  public KeyClaim claim(
      String tenant, String key, String requestHash, SandboxId sandbox, Instant now) {
    return database.write(
        c -> {
          // One statement takes a free key or an outdated one. A concurrent claim waits here for
          // the first and then finds the key taken.
          int taken =
              Sql.update(
                  c,
                  "insert into idempotency_key (tenant, name, request_hash, sandbox_id, bound_at)"
                      + " values (?, ?, ?, ?, ?)"
                      + " on conflict (tenant, name) do update set"
                      + " request_hash = excluded.request_hash,"
                      + " sandbox_id = excluded.sandbox_id, bound_at = excluded.bound_at"
                      + " where idempotency_key.bound_at <= ?",
                  tenant,
                  key,
                  requestHash,
                  sandbox.value(),
                  now,
                  Micros.of(now) - Micros.of(keyRetention));
          if (taken > 0) {
            return new KeyClaim.New();
          }
          return Sql.one(
                  c,
                  "select sandbox_id, request_hash from idempotency_key"
                      + " where tenant = ? and name = ?",
                  row ->
                      new KeyClaim.Existing(
                          new SandboxId(row.text("sandbox_id")),
                          row.text("request_hash").equals(requestHash)),
                  tenant,
                  key)
              .orElseThrow();
        });
  }

  @Override
  public void release(SandboxId sandbox) {
    database.write(
        c -> Sql.update(c, "delete from idempotency_key where sandbox_id = ?", sandbox.value()));
  }

  @Override
  public int purge(Instant before) {
    return database.write(
        c -> Sql.update(c, "delete from idempotency_key where bound_at < ?", before));
  }
}
