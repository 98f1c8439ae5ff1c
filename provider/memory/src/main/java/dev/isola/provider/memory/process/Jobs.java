package dev.isola.provider.memory.process;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.ExecutionId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** The executions of one sandbox: those that run and the last that ended. */
public final class Jobs {
  private static final int MOST_ENDED = 256;
  private static final long MOST_BYTES = 16 << 20;

  private final ReentrantLock lock = new ReentrantLock();
  private final List<Job> jobs = new ArrayList<>();
  private long lastId;

  public ExecutionId nextId() {
    lock.lock();
    try {
      return new ExecutionId(Long.toString(++lastId));
    } finally {
      lock.unlock();
    }
  }

  public void add(Job job) {
    lock.lock();
    try {
      jobs.add(job);
      forgetOld();
    } finally {
      lock.unlock();
    }
  }

  private void forgetOld() {
    List<Job> ended = jobs.stream().filter(job -> job.exit().isPresent()).toList();
    long bytes = ended.stream().mapToLong(Job::keptBytes).sum();
    int count = ended.size();
    for (Job oldest : ended) {
      if (count <= MOST_ENDED && bytes <= MOST_BYTES) {
        return;
      }
      jobs.remove(oldest);
      bytes -= oldest.keptBytes();
      count--;
    }
  }

  public List<Job> all() {
    lock.lock();
    try {
      forgetOld();
      return List.copyOf(jobs);
    } finally {
      lock.unlock();
    }
  }

  public Job find(ExecutionId id) {
    return all().stream()
        .filter(job -> job.id().equals(id))
        .findFirst()
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.EXECUTION_NOT_FOUND,
                        "there is no execution " + id,
                        "list the executions; ended ones are kept for a while only")
                    .exception());
  }
}
