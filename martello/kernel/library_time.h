#pragma once

// How long kernels are inside the libraries that they call, for traces.
namespace martello {

// While one lives, the calls of its thread into kernel libraries (oneDNN) are timed.
class LibraryTime {
 public:
  LibraryTime();
  ~LibraryTime();
  LibraryTime(const LibraryTime&) = delete;
  LibraryTime& operator=(const LibraryTime&) = delete;

  double us() const { return us_; }

  // Lives as long as such a call. Costs a test when nobody counts.
  class Call {
   public:
    Call() {
      if (counting_) start();
    }
    ~Call() {
      if (counting_) stop();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    void start();
    void stop();
    double start_ = 0;
  };

 private:
  static thread_local LibraryTime* counting_;
  LibraryTime* const before_;
  double us_ = 0;
};

}  // namespace martello
