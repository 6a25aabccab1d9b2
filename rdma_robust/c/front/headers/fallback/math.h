/* Declarations of ours, for where the system has no <math.h>. */
#ifndef RDMA_ROBUST_MATH_H
#define RDMA_ROBUST_MATH_H
double sqrt(double);
double floor(double);
double ceil(double);
double log(double);
double log2(double);
double log10(double);
double exp(double);
double fabs(double);
double round(double);
double sin(double);
double cos(double);
double pow(double, double);
double fmod(double, double);
#endif
